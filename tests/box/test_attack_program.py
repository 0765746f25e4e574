# SPDX-License-Identifier: MIT
"""The attack program of --prove: outside a box its attacks succeed, which shows that they can."""
import os
import pathlib
import shutil
import socket
import subprocess
import time
import unittest

from box import kernel
from lib.box import CLAUDEBOX, BoxTest, tree
from lib.canaries import ATTACK_PROGRAM, ATTACKS, OPEN_IN_FULL, Canaries, parse, with_verdict
from lib.inet import InetTest
from lib.terminal import Terminal

AS_ROOT = True
# Outside a box, kill(-1) would reach processes of other tests.
OWN_PROCESSES = True
ROOT = os.getuid() == 0
LEGACY = pathlib.Path("/proc/sys/dev/tty/legacy_tiocsti")
NAMESPACES = ["unshare", *([] if ROOT else ["--user", "--map-root-user"]), "--mount", "--pid", "--net", "--ipc", "--uts", "--mount-proc", "--fork",
              "--kill-child"]

# Outside a box, as the ordinary user who planted the canaries.
LEAKS_OUTSIDE = set("""
environment-own environment-processes environment-command-lines
files-ssh files-gnupg files-cloud files-registries files-toolchains files-git files-passwords files-browsers files-history files-claude files-home
files-other-projects files-state files-other-homes files-temporary files-run files-shared-memory files-system files-others files-absent files-generated files-plugins files-parent
files-proc-root files-proc-cwd files-dot-dot files-symlink files-hard-link
descriptors-inherited descriptors-directory descriptors-pidfd-host
keys-session keys-user keys-keyrings keys-link keys-request keys-add keys-list
sockets-abstract sockets-abstract-datagram sockets-path sockets-proc-root
network-netlink network-families
processes-see processes-signal processes-signal-thread processes-signal-pidfd processes-signal-all processes-signal-group
processes-signal-owner processes-ptrace processes-vm-read processes-mem-file processes-pointers processes-scheduling processes-oom
memory-shm-id memory-shm-key memory-semaphores memory-messages memory-lists memory-mqueue memory-userfaultfd
kernel-filter kernel-filter-init kernel-no-new-privileges kernel-capabilities kernel-setuid-programs kernel-core-dumps
kernel-user-namespace kernel-clone-namespace kernel-clone3-namespace mounts-nested
kernel-lease kernel-snapshots write-set-id
identity-host-name identity-users identity-mount-sources
write-create write-directory write-symlink write-rename write-socket write-proc-root write-dot-dot write-canaries write-parent
write-startup write-autostart write-toolchains project-write project-replace project-create
""".split())

# As root of new namespaces.
LEAKS_AS_ROOT_INSIDE = set("""
descriptors-init descriptors-pidfd-init
network-routes network-link network-firewall network-raw network-packet
processes-init-priority processes-init-files processes-credentials processes-ptrace-init processes-vm-read processes-mem-file processes-pointers
kernel-become-root kernel-file-capabilities kernel-namespaces kernel-enter-namespace kernel-reboot
mounts-mount mounts-bind mounts-remount mounts-unmount mounts-pivot mounts-chroot mounts-new-calls mounts-propagation
sockets-agents sockets-desktop sockets-containers sockets-system identity-machine-id write-system write-programs
""".split())
# The same, as the machine's root.
LEAKS_TO_ROOT = set("""
files-handle memory-pagemap kernel-bpf kernel-fanotify kernel-clock kernel-swap kernel-settings kernel-core-pattern kernel-mknod write-devices
""".split())

ON_TERMINAL = {"terminal-user", "terminal-foreground", "terminal-exclusive"}
LEAKS_AS_NONE = OPEN_IN_FULL - {"identity-interfaces"}
# Not every machine has these.
MAY_BE_SKIPPED = {"identity-host-name", "identity-machine-id"}

# No test can safely make these succeed everywhere: they need hardware, kernel options or the
# machine's root.
DEPENDS = set("""
files-old-root
network-vsock network-crypto network-bluetooth
memory-devices memory-perf memory-symbols
terminal-tiocsti terminal-tiocsti-wide terminal-tiocsti-32 terminal-tiocsti-x32 terminal-tioclinux terminal-steal terminal-discipline
terminal-consoles terminal-input
kernel-32-bit kernel-x32 kernel-io-uring kernel-kexec kernel-modules kernel-ports kernel-log kernel-sysrq kernel-sys kernel-cgroup
kernel-devices kernel-later-calls kernel-inotify limits-in-force limits-lift limits-leave limits-below mounts-disks identity-boot-id identity-groups identity-cgroup identity-hardware identity-logs
""".split())

# Process 1 is dumpable, a mount is read-only and shared, sockets of the system exist, and programs
# can be changed.
AS_ROOT_INSIDE = """
mount -t tmpfs none /mnt && mkdir /mnt/shared && mount -t tmpfs -o ro none /mnt/shared && mount --make-shared /mnt/shared &&
mount -t tmpfs none /etc && touch /etc/passwd && echo 0123456789abcdef >/etc/machine-id && mount -t tmpfs none /run || exit
/usr/bin/python3 -c '
import os, socket, subprocess, sys
kept = []
for path in ("/run/dbus/system_bus_socket", "/run/docker.sock", "/run/user/0/bus", "/run/user/0/gnupg/S.gpg-agent"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    kept.append(socket.socket(socket.AF_UNIX))
    kept[-1].bind(path)
    kept[-1].listen()
sys.exit(subprocess.run(sys.argv[1:]).returncode)' "$@"
:
"""

# A network with a default route and services, which a box in the tier none must not have.
AS_NONE = """
import pathlib, socket, subprocess, sys, threading, unittest
from lib.canaries import Canaries
for command in ("link set lo up", "link add out type veth peer name end", "address add 192.0.2.9/24 dev out", "link set out up", "link set end up", "route add default via 192.0.2.1",
                "-6 address add 2001:db8:9::9/64 dev out nodad", "-6 route add default dev out"):
    subprocess.run(["ip", *command.split()], check=True)
test = unittest.TestCase()
test.home = test.project = pathlib.Path(sys.argv[2])
canaries = Canaries(test)
canaries.services()
canaries.unix_sockets()
resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
resolver.bind(("127.0.0.53", 53))

def answer():
    while True:
        query, sender = resolver.recvfrom(512)
        resolver.sendto(query[:2] + bytes([query[2] | 128]) + query[3:], sender)

threading.Thread(target=answer, daemon=True).start()
subprocess.run([sys.argv[1], canaries.write_list("none")], check=True)
test.doCleanups()
"""


class AttackTest(BoxTest):
    def plant(self):
        canaries = Canaries(self).plant()
        canaries.services()
        for path in (".bashrc", "bin/x", "project/x"):
            (self.home / path).parent.mkdir(exist_ok=True)
            (self.home / path).write_text("")
        shutil.copy(ATTACK_PROGRAM, self.project / "attack")
        return canaries

    def outside(self, *prefix, canaries, tier="full"):
        done = subprocess.run([*prefix, ATTACK_PROGRAM, canaries.write_list(tier)], cwd=self.project, env={**self.env, **canaries.env},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, pass_fds=canaries.descriptors, text=True, timeout=20, check=True)
        return parse(done.stdout)

    def assertVerdicts(self, results, expected, verdict):
        self.assertEqual({name: results[name] for name in expected - with_verdict(results, verdict)}, {})


class Outside(AttackTest):
    """Each attack succeeds somewhere, so the box is the reason when it is blocked."""

    def test_each_row_is_accounted_for(self):
        can_leak = (LEAKS_OUTSIDE | LEAKS_AS_ROOT_INSIDE | LEAKS_TO_ROOT | LEAKS_AS_NONE | OPEN_IN_FULL | ON_TERMINAL |
                    {"terminal-others", "sockets-mounted", "descriptors-streams"})
        self.assertEqual(set(ATTACKS) - can_leak, DEPENDS)
        self.assertGreaterEqual(len(can_leak), 70)
        self.assertEqual(can_leak - set(ATTACKS), set())

    def test_nothing_is_left_behind(self):
        """Except at the paths that the host checks. Attacks that succeed do no harm."""
        canaries = self.plant()
        canaries.write_list("full")
        before = tree(self.home)
        results = self.outside(*NAMESPACES, "sh", "-c", '"$@"; :', "sh", canaries=canaries)
        self.assertIn("leaked", {verdict for verdict, _ in results.values()})
        after = {path: what for path, what in tree(self.home).items() if ".made" not in path}
        self.assertEqual(after, before)

    def test_as_root_of_namespaces(self):
        canaries = self.plant()
        canaries.line("machine-id", "0123456789abcdef")
        results = self.outside(*NAMESPACES, "sh", "-c", AS_ROOT_INSIDE, "sh", canaries=canaries)
        self.assertVerdicts(results, LEAKS_AS_ROOT_INSIDE | (LEAKS_TO_ROOT if ROOT else set()), "leaked")

    def test_a_file_and_a_socket_as_standard_streams(self):
        listing = Canaries(self).write_list("none")
        ours, theirs = socket.socketpair()
        with ours, theirs, open(self.project / "input", "w+", encoding="ascii") as file:
            for stream in (file, theirs):
                done = subprocess.run([*NAMESPACES, ATTACK_PROGRAM, listing], stdin=stream, stdout=subprocess.PIPE, text=True, timeout=20, check=True)
                self.assertVerdicts(parse(done.stdout), {"descriptors-streams"}, "leaked")

    def test_a_network_that_should_not_be_there(self):
        done = subprocess.run([*NAMESPACES, "/usr/bin/python3", "-c", AS_NONE, ATTACK_PROGRAM, self.project], cwd=self.project, env=os.environ,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=20, check=True)
        self.assertVerdicts(parse(done.stdout), LEAKS_AS_NONE, "leaked")

    def test_a_socket_in_the_project_leaks_unless_the_kernel_cannot_block_it(self):
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(f"{self.project}/s")
        listener.listen()
        for expected, fields in (("leaked", ()), ("open", ("open",))):
            canaries = Canaries(self)
            canaries.line("mounted-socket", f"{self.project}/s", *fields)
            self.assertVerdicts(self.outside(*NAMESPACES, canaries=canaries), {"sockets-mounted"}, expected)

    def test_a_remount_of_what_is_writable_is_no_leak(self):
        """A sandbox may mount a writable directory over a read-only one at the same path."""
        listing = Canaries(self).write_list("full")
        done = subprocess.run(["bwrap", "--unshare-all", "--uid", "1000", "--gid", "1000", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
                               "--ro-bind", self.project, self.project, "--bind", self.project, self.project, ATTACK_PROGRAM, listing],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=20, check=True)
        results = parse(done.stdout)
        self.assertVerdicts(results, {"kernel-user-namespace"}, "leaked")
        self.assertVerdicts(results, {"mounts-remount", "mounts-nested"}, "blocked")

    def test_a_list_that_cannot_be_read(self):
        for content in (None, "", "tier\tfull\n", "token\n", "token\tx\nnonsense\tx\n", "token\tx\nfile\tno-attack\t/x\n"):
            path = self.project / "list"
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_text(content)
            done = subprocess.run([ATTACK_PROGRAM, path], capture_output=True, text=True, timeout=20, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("cannot read the list", done.stderr)


# Not as root, whose signals would reach every process.
if not ROOT:
    class OutsideAsUser(AttackTest):
        def test_nearly_everything_leaks(self):
            canaries = self.plant()
            started = time.monotonic()
            results = self.outside(canaries=canaries)
            self.assertLess(time.monotonic() - started, 2)  # one attack waits for the guard
            self.assertVerdicts(results, LEAKS_OUTSIDE, "leaked")
            self.assertVerdicts(results, OPEN_IN_FULL, "open")
            for path in [fields[1] for fields in canaries.lines if fields[0] == "write"]:
                for ending in ("", ".write-directory", ".write-symlink", ".write-rename", ".write-socket", ".write-dot-dot"):
                    self.assertTrue(os.path.lexists(f"{path}{ending}"), (path, ending))


class OnTerminal(AttackTest):
    def attack(self, *prefix, tier):
        listing = Canaries(self).write_list(tier)
        name_terminal = 'printf "terminal\\t%d\\n" "$(python3 -c "import os; print(os.fstat(0).st_rdev)")" >>"$0"; exec "$@"'
        terminal = Terminal(["sh", "-c", name_terminal, listing, *prefix, "sh", "-c", '"$0" "$1" 2>&1 | cat >"$1.out"; echo DO""NE; cat',
                             self.project / "attack", listing], self.env, self.project)
        self.addCleanup(terminal.close)
        terminal.expect("DONE")
        return parse((self.project / "canaries.out").read_text())

    def setUp(self):
        super().setUp()
        shutil.copy(ATTACK_PROGRAM, self.project / "attack")

    def test_outside_the_terminal_is_typed_into(self):
        for other in os.openpty():
            self.addCleanup(os.close, other)
        results = self.attack(*(NAMESPACES if ROOT else []), tier="full")  # in this tier no packet is sent
        # The foreground group is outside of the PID namespace of root.
        wanted = {"terminal-others"} | ON_TERMINAL - ({"terminal-foreground"} if ROOT else set())
        if not LEGACY.exists() or LEGACY.read_text().strip() == "1":
            wanted |= {"terminal-tiocsti", "terminal-tiocsti-wide"}
        self.assertVerdicts(results, wanted, "leaked")
        self.assertVerdicts(results, {"terminal-steal"}, "blocked")

    def test_inside(self):
        results = self.attack(CLAUDEBOX, "--network", "none", "--yes", "--exec", tier="none")
        self.assertEqual({name: results[name] for name in with_verdict(results, "leaked")}, {})
        self.assertVerdicts(results, {"terminal-steal", "terminal-others", "terminal-consoles", "descriptors-streams"} | ON_TERMINAL, "blocked")


class Inside(AttackTest):
    """The same canaries, attacked from inside a box."""

    def attack(self, tier):
        canaries = self.plant()
        canaries.write_list(tier)
        done = self.claudebox("--network", tier, "--yes", "--exec", "./attack", "canaries", env=canaries.env, pass_fds=canaries.descriptors)
        self.assertEqual(done.returncode, 0, done.stderr[-400:])
        results = parse(done.stdout)
        self.assertEqual({name: results[name] for name in with_verdict(results, "leaked") - kernel.leaks(tier)}, {})
        for path in [fields[1] for fields in canaries.lines if fields[0] == "write"]:
            self.assertEqual(list(pathlib.Path(path).parent.glob(f"{pathlib.Path(path).name}*")), [])
        return results

    def test_full(self):
        results = self.attack("full")
        self.assertVerdicts(results, OPEN_IN_FULL, "open")
        self.assertEqual(with_verdict(results, "open") - OPEN_IN_FULL - {"identity-boot-id"}, set())

    def test_none(self):
        results = self.attack("none")
        self.assertVerdicts(results, (LEAKS_AS_NONE | LEAKS_OUTSIDE | LEAKS_AS_ROOT_INSIDE) - MAY_BE_SKIPPED, "blocked")
        self.assertEqual(with_verdict(results, "open") - {"identity-boot-id"}, set())


class InsideInet(InetTest, AttackTest):
    def test_inet(self):
        canaries = Canaries(self).plant()
        shutil.copy(ATTACK_PROGRAM, self.project / "attack")
        for where, address in (("loopback", "127.0.0.1"), ("loopback", "::1"), ("host", "192.168.77.5"), ("host", "2001:db8:1::5"),
                               ("host", "198.51.100.5"), ("host", "172.17.0.1"), ("host", "100.101.1.5"), ("host", "fd7a:115c:a1e0::5")):
            for kind in ("tcp", "udp"):
                canaries.line(kind, where, address, 80)
        canaries.line("incoming", 4711)
        canaries.write_list("inet")
        done = self.inet("./attack", "canaries", env=canaries.env)
        results = parse(done.stdout)
        self.assertEqual({name: results[name] for name in with_verdict(results, "leaked")}, {})
        self.assertVerdicts(results, LEAKS_AS_NONE - {"network-outside"}, "blocked")
        self.assertEqual(with_verdict(results, "open") - {"identity-boot-id"}, {"network-outside"})


if __name__ == "__main__":
    unittest.main()
