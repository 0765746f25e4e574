# SPDX-License-Identifier: MIT
"""podman in a nested box: images, containers and builds work without configuration and see no more than the box."""
import json
import os
import pathlib
import shutil
import unittest

from lib.inet import InetTest

TIERS = ("full", "inet", "none")
STAGE = pathlib.Path(os.environ["STAGE"])
RULES = [rule for rule in json.loads((STAGE / "seccomp_rules.json").read_text()) if rule["number"] >= 0 and not rule["unless_nested"]]

# An image of this machine's own programs, with a file whose group does not exist in the box, as in real images.
IMAGE = r"""
mkdir -p /tmp/image/bin /tmp/image/etc /tmp/image/tmp /tmp/image/work
for program in sh cat id ls sleep; do
	path=$(command -v $program)
	cp -L "$path" /tmp/image/bin/
	ldd "$path" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "/tmp/image${library%/*}"
		cp -L "$library" "/tmp/image$library"
	done
done
echo inside >/tmp/image/etc/file
tar -C /tmp/image --owner=0 --group=42 -cf /tmp/image.tar .
podman import -q /tmp/image.tar image >/dev/null 2>/tmp/log || { cat /tmp/log >&2; exit 9; }
"""
CONTAINERFILE = "FROM scratch\nCOPY image /\nRUN echo built > /made\nCMD [\"cat\", \"/made\", \"/etc/file\"]\n"


def try_it(rule):
    """Returns a line for the helper: a call whose arguments match the rule."""
    arguments = [1] * 6
    for at, _, value in rule["conditions"]:
        arguments[at] = value
    return f"native {rule['number']} {' '.join(map(str, arguments))}\n"


@unittest.skipUnless(shutil.which("podman") and shutil.which("crun"), "no podman or no crun")
@unittest.skipIf(os.getuid() == 0, "refused for root")
class Podman(InetTest):
    def setUp(self):
        super().setUp()
        self.profile(nested=True)

    def podman(self, script, tier="none", image=IMAGE, **options):
        """Returns the output of a script in a box that has the image."""
        done = self.claudebox("--network", tier, "--yes", "--exec", "sh", "-euc", image + script, timeout=180, **options)
        self.assertEqual(done.returncode, 0, done.stdout[-400:] + done.stderr[-1200:])
        return done.stdout

    def test_a_container_in_every_tier(self):
        script = ("podman run --rm image sh -c 'id -u; cat /etc/file; cat /proc/net/dev' >/tmp/out; head -n 2 /tmp/out; "
                  "tail -n +3 /tmp/out | grep -o '^ *[^ ]*:' | sort >/tmp/there; grep -o '^ *[^ ]*:' /proc/net/dev | sort | cmp - /tmp/there && echo same")
        for tier in TIERS:
            with self.subTest(tier):
                self.assertEqual(self.podman(script, tier), "0\ninside\nsame\n")

    def test_a_container_without_network(self):
        self.assertEqual(self.podman("podman run --rm --network none image cat /proc/net/dev | grep -c ':'", "full"), "1\n")

    def test_ports_and_networks_of_its_own_do_not_work_and_are_not_needed(self):
        """A server of a container is a server of the box, at the same port."""
        (self.project / "serve.py").write_text("import socket\nsocket.create_server(('127.0.0.1', 4711)).accept()[0].send(b'served')\n")
        (self.project / "connect.py").write_text(
            "import socket, time\n"
            "for _ in range(200):\n"
            "    try:\n"
            "        connection = socket.create_connection(('127.0.0.1', 4711))\n"
            "        break\n"
            "    except OSError:\n"
            "        time.sleep(0.05)\n"
            "print(socket.socket().connect_ex(('127.0.0.1', 4712)) != 0, connection.recv(10).decode())\n")
        self.assertEqual(self.podman("podman run --rm --network bridge image id 2>/dev/null && echo bridge\n"
                                     'podman run -d -p 4712:4711 -v /usr:/usr:ro -v "$PWD:/work" image python3 /work/serve.py >/dev/null 2>&1\n'
                                     "python3 connect.py"), "True served\n")

    def test_images_are_lost_after_the_session(self):
        self.assertEqual(self.podman("podman images -q | wc -l"), "1\n")
        self.assertEqual(self.podman("podman images -q | wc -l", image=""), "0\n")

    @unittest.skipUnless(shutil.which("apt-get"), "no apt-get")
    def test_an_installer_that_switches_to_another_user(self):
        """apt-get changes to the user _apt for downloads, unless an option says otherwise."""
        (self.project / "update").write_text(
            "mkdir -p /var/lib/dpkg /var/lib/apt/lists/partial /var/cache/apt/archives/partial /etc/apt /repository\n"
            ": >/var/lib/dpkg/status >/repository/Packages\n"
            "echo '_apt:x:42:42::/nonexistent:/bin/false' >>/etc/passwd\n"
            "echo 'deb [trusted=yes] file:/repository ./' >/etc/apt/sources.list\n"
            "apt-get \"$@\" update >/tmp/log 2>&1 && echo updated || cat /tmp/log\n")
        run = 'podman run --rm -v /usr:/usr:ro -v "$PWD:/work" image sh /work/update'
        self.assertRegex(self.podman(run), "E: set(res)?[ug]id|E: setgroups")
        self.assertEqual(self.podman(f"{run} -o APT::Sandbox::User=root"), "updated\n")

    def test_a_build(self):
        script = "podman build -q -t built -f Containerfile /tmp >/dev/null; podman run --rm built"
        (self.project / "Containerfile").write_text(CONTAINERFILE)
        for tier in TIERS:
            with self.subTest(tier):
                self.assertEqual(self.podman(script, tier), "built\ninside\n")

    def test_a_container_in_the_background(self):
        script = ("podman run -d --name one image sh -c 'echo started; exec sleep 100' >/dev/null; podman exec one id -u; podman logs one; "
                  "podman rm -f -t 0 one >/dev/null; podman ps -aq | wc -l")
        self.assertEqual(self.podman(script), "0\nstarted\n0\n")

    def test_no_container_survives_the_box(self):
        """No helper process of podman survives the box."""
        self.podman("podman run -d image sleep 100 >/dev/null")

    def test_with_the_vfs_storage_driver(self):
        self.profile(nested=True, env={"STORAGE_DRIVER": "vfs"})
        self.assertEqual(self.podman("podman info -f '{{.Store.GraphDriverName}}'; podman run --rm image cat /etc/file"), "vfs\ninside\n")

    def test_the_project_in_a_container(self):
        self.podman('podman run --rm -v "$PWD:/work" image sh -c "echo made > /work/file"')
        made = self.project / "file"
        self.assertEqual((made.read_text(), made.stat().st_uid), ("made\n", os.getuid()))

    def test_a_second_user_fails_with_a_message(self):
        (self.project / "Containerfile").write_text("FROM image\nUSER 1234\nCMD [\"id\", \"-u\"]\n")
        said = self.podman("podman build -q -t other . >/dev/null; podman run --rm other 2>&1 && exit 1; podman run --rm --user 0 other").splitlines()
        self.assertRegex(said[0], "(?i)error.*set(res)?[ug]id")
        self.assertEqual(said[1:], ["0"])

    def test_it_sees_no_more_than_the_box(self):
        (self.home / ".ssh").mkdir()
        (self.home / ".ssh/id").write_text("CANARY\n")
        seen = self.podman(f"ls -A {self.home} >/tmp/box; podman run --rm --privileged -v /:/host image sh -c "
                           f"'ls -A /host{self.home}; cat /host{self.home}/.ssh/id' >/tmp/container 2>/dev/null || :; cat /tmp/container")
        self.assertIn("project", seen.split())
        self.assertNotIn(".ssh", seen.split())
        self.assertNotIn("CANARY", seen)

    def test_the_seccomp_filter_covers_a_privileged_container(self):
        shutil.copy(STAGE / "syscalls", self.project / "syscalls")
        (self.project / "tries").write_text("".join(map(try_it, RULES)))
        libraries = 'for l in $(ldd ./syscalls | grep -o "/[^ ]*"); do mkdir -p /tmp/image${l%/*}; cp -L $l /tmp/image$l; done 2>/dev/null\n'
        said = self.podman('podman run -i --rm --privileged -v "$PWD:/work" image /work/syscalls <tries', image=libraries + IMAGE).split()
        self.assertEqual([int(word) for word in said], [-rule["error"] for rule in RULES])
        self.assertGreater(len(RULES), 30)

    def test_containers_have_no_cgroups(self):
        said = self.podman("ls -A /sys/fs/cgroup; mkdir /sys/fs/cgroup/x 2>/dev/null || echo no; ls -A /sys /sys/fs", image="")
        self.assertEqual(said.split(), ["no", "/sys:", "fs", "/sys/fs:", "cgroup"])

    def test_in_an_ordinary_box_it_does_not_start(self):
        self.profile()
        done = self.claudebox("--yes", "--exec", "podman", "info", timeout=30)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Error", done.stderr)


if __name__ == "__main__":
    unittest.main()
