# SPDX-License-Identifier: MIT
"""Host resources outside the file system: abstract sockets, signals, later mounts, kernel keys,
core dumps."""
import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import tempfile
import unittest
import uuid

from box import kernel
from lib.box import CLAUDEBOX, BoxTest, processes_with, until

AS_ROOT = True

KINDS = {"stream": socket.SOCK_STREAM, "datagram": socket.SOCK_DGRAM, "seqpacket": socket.SOCK_SEQPACKET}

# Runs in the box: tries to connect to each abstract socket and prints the results.
REACH = """
import errno, json, os, socket, sys
def attempt(kind, name):
    try:
        with socket.socket(socket.AF_UNIX, kind) as client:
            if kind == socket.SOCK_DGRAM:
                client.sendto(b"x", "\\0" + name)
            client.connect("\\0" + name)
            client.send(b"x")
            return "reached"
    except OSError as error:
        return errno.errorcode[error.errno]
print(json.dumps([attempt(kind, name) for kind, name in json.loads(sys.argv[1])]))
"""

# Runs in the box: connects two processes of the box by an abstract socket.
OWN = """
import os, socket
server = socket.socket(socket.AF_UNIX)
server.bind("\\0claudebox-test-own")
server.listen()
if os.fork() == 0:
    client = socket.socket(socket.AF_UNIX)
    client.connect("\\0claudebox-test-own")
    client.send(b"mine")
    os._exit(0)
print(server.accept()[0].recv(9).decode())
"""

# Runs in its own mount namespace with shared mounts: mounts a file system after the box has
# started.
LATER = r"""
mount -t tmpfs tmpfs "$2" && mkdir -p "$2/home/project/early" "$2/home/project/late" || exit 9
mount -t tmpfs tmpfs "$2/home/project/early" && touch "$2/home/project/early/there"
cd "$2/home/project" || exit 9
mkfifo "$2/go"
HOME="$2/home" "$1" --yes --exec sh -c 'echo started; until [ -e told ]; do sleep 0.02; done; ls early late; grep -c late /proc/self/mountinfo' \
    >"$2/out" 2>"$2/err" </dev/null &
box=$!
for i in $(seq 200); do grep -qs started "$2/out" && break; sleep 0.02; done
mount -t tmpfs tmpfs "$2/home/project/late" && touch "$2/home/project/late/secret" && : >"$2/home/project/told"
wait $box
cat "$2/out" "$2/err"
"""


class AbstractSockets(BoxTest):
    def listeners(self):
        sockets = []
        for kind in KINDS.values():
            name = f"claudebox-test-{uuid.uuid4()}"
            server = socket.socket(socket.AF_UNIX, kind)
            self.addCleanup(server.close)
            server.bind("\0" + name)
            if kind != socket.SOCK_DGRAM:
                server.listen()
            sockets.append((kind, name))
        return sockets

    def reach(self, *options, **more):
        done = self.claudebox(*options, "--yes", "--exec", "python3", "-c", REACH, json.dumps(self.listeners()), **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), done.stderr

    @unittest.skipIf(kernel.landlock_version() < 6 and "CI" not in os.environ, "this kernel has no Landlock scopes")
    def test_abstract_sockets_of_the_host_are_refused_in_tier_full(self):
        outcomes, errors = self.reach()
        self.assertEqual(outcomes, ["EPERM"] * 3)
        self.assertNotIn("abstract", errors)

    def test_abstract_sockets_of_the_host_do_not_exist_in_tier_none(self):
        self.assertEqual(self.reach("--network", "none")[0], ["ECONNREFUSED"] * 3)

    def test_a_kernel_without_landlock_scopes_gives_a_warning(self):
        for missing in (kernel.LANDLOCK, kernel.SINCE["5.10"]):
            outcomes, errors = self.reach(preexec_fn=kernel.without(*missing))
            self.assertEqual(outcomes, ["reached"] * 3)  # so the test above can fail
            self.assertRegex(errors, r"(?m)^  ! the box can reach abstract Unix sockets of this machine .*Linux 6\.12")
            self.assertNotIn("abstract", self.reach("--network", "none", preexec_fn=kernel.without(*missing))[1])

    def test_a_landlock_failure_in_init_stops_the_start(self):
        done = self.claudebox("--yes", "--exec", "touch", "ran", preexec_fn=kernel.without("landlock_restrict_self"))
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, r"(?m)^claudebox: cannot apply the process restrictions \(core dump limit, Landlock\): Function not implemented\nhint: ")
        self.assertFalse((self.project / "ran").exists())

    def test_abstract_sockets_inside_the_box_work(self):
        for tier in ("full", "none"):
            done = self.claudebox("--network", tier, "--yes", "--exec", "python3", "-c", OWN)
            self.assertEqual(done.stdout, "mine\n", done.stderr)

    def test_check_reports_landlock_support(self):
        with_it = json.loads(self.claudebox("--check=json").stdout)["checks"]
        without = json.loads(self.claudebox("--check=json", preexec_fn=kernel.without(*kernel.LANDLOCK)).stdout)["checks"]
        rows = [next(row for row in rows if row["name"] == "landlock") for rows in (with_it, without)]
        self.assertEqual(rows[0]["state"], "ok" if kernel.landlock_version() >= 6 else "missing")
        self.assertEqual((rows[1]["state"], rows[1]["required"]), ("missing", False))
        self.assertIn("6.12", rows[1]["fix"])


class Signals(BoxTest):
    def test_signals_within_the_box_work(self):
        script = """
        sh -c 'exec sleep 1000' & kill -KILL $!; wait $!; echo $?
        sh -c 'trap "echo caught; exit 3" USR1; kill -USR1 $$; sleep 1'; echo $?
        (trap '' TERM; kill 0; echo group) ; echo end
        """
        self.assertEqual(self.box(f"trap '' TERM; {script}").split(), ["137", "caught", "3", "group", "end"])

    def test_forwarded_signals_arrive(self):
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", 'trap "echo caught; exit 7" TERM; echo ready; sleep 9 & wait'],
                                   cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual((process.communicate(timeout=9)[0], process.returncode), ("caught\n", 7))


class LaterMounts(BoxTest):
    """Runs in a mount namespace of its own with shared mounts, the default of systemd."""

    def later(self, claudebox):
        place = tempfile.mkdtemp(prefix="claudebox-test-", dir="/var/tmp")
        self.addCleanup(self._remove, place)
        return subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "--propagation", "shared", "sh", "-c", LATER, "sh",
                               str(claudebox), place], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=60, check=False).stdout

    def test_later_mounts_of_the_host_do_not_appear(self):
        out = self.later(CLAUDEBOX)
        self.assertIn("started\nearly:\nthere\n\nlate:\n0\n", out)

    def test_later_mounts_appear_in_a_plain_bwrap(self):
        plain = self.home / "plain"
        plain.write_text('#!/bin/sh\nshift 2\nexec bwrap --unshare-user --dev-bind / / -- "$@"\n')
        plain.chmod(0o755)
        self.assertIn("started\nearly:\nthere\n\nlate:\nsecret\n1\n", self.later(plain))


class Leftovers(BoxTest):
    def test_no_core_dumps(self):
        script = """
        ulimit -Sc; ulimit -Hc; ulimit -c 1000 2>/dev/null && echo raised
        sh -c 'kill -SEGV $$'; echo $?; ls -A
        """
        out = self.box(script, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)).split()
        self.assertEqual(out[:3], ["0", "0", "139"])
        self.assertEqual(out[3:], [])

    def test_the_list_of_kernel_keys_is_hidden(self):
        for name in ("/proc/keys", "/proc/key-users"):
            if pathlib.Path(name).exists():
                self.assertEqual(self.box(f"cat {name} 2>&1; echo $?"), f"cat: {name}: Permission denied\n1\n")

    def test_no_process_is_left_when_claudebox_is_killed_before_the_start(self):
        """init waits for the start message, which is never sent."""
        for delay in (0.001, 0.002, 0.003, 0.004, 0.005, 0.006):
            mark = f"1000.{os.getpid()}{delay}"
            process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sleep", mark], cwd=self.project, env=self.env,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(delay)
            except subprocess.TimeoutExpired:
                pass
            process.kill()
            process.wait()
            self.assertTrue(until(lambda mark=mark: not processes_with(mark), 2.0), processes_with(mark))
