# SPDX-License-Identifier: MIT
"""The box leaves the host its share of what the kernel counts for each user, and blocks no program
of the host by a lease."""
import ctypes
import os
import pathlib
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, BoxTest

AS_ROOT = True
LIMIT = int(pathlib.Path("/proc/sys/fs/inotify/max_user_instances").read_text())

# Takes all inotify instances that it can, tells how many, and keeps them until its input ends.
TAKE = r"""
import ctypes, os, resource, sys
libc = ctypes.CDLL(None)
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
count = 0
while libc.inotify_init1(0) >= 0:
    count += 1
print(count, flush=True)
sys.stdin.read()
"""

LEASE = r"""
import errno, fcntl, os, struct, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
for name, command, argument in (("read", fcntl.F_SETLEASE, fcntl.F_RDLCK), ("write", fcntl.F_SETLEASE, fcntl.F_WRLCK),
                                ("delegation", 1040, struct.pack("IHH", 0, 1, 0))):
    try:
        fcntl.fcntl(fd, command, argument)
        print(name, "done", flush=True)
    except OSError as error:
        print(name, errno.errorcode[error.errno], flush=True)
print(fcntl.fcntl(fd, fcntl.F_GETLEASE) == fcntl.F_UNLCK, flush=True)
sys.stdin.read()
"""


class Share(BoxTest):
    def start(self, *command):
        process = subprocess.Popen([CLAUDEBOX, "--network", "none", "--yes", *command], cwd=self.project, env=self.env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        return process

    @unittest.skipIf(LIMIT > 8192, "this machine allows so many that no box can take half")
    def test_half_of_the_inotify_instances_are_left(self):
        for nested in (False, *([True] if os.getuid() else [])):
            with self.subTest(nested=nested):
                self.profile(nested=nested)
                inside = ["/usr/bin/python3", "-c", TAKE]
                box = self.start("--exec", *(["unshare", "--user", "--map-root-user", *inside] if nested else inside))
                count = int(box.stdout.readline())
                self.assertGreater(count, 8)  # other programs of the user may have some
                self.assertLessEqual(count, max(64, LIMIT // 2))
                if LIMIT >= 128:
                    fd = ctypes.CDLL(None).inotify_init1(0)
                    self.assertGreaterEqual(fd, 0)
                    os.close(fd)
                box.stdin.close()
                box.wait()

    def test_the_limits_cannot_be_raised(self):
        for nested in (False, *([True] if os.getuid() else [])):
            self.profile(nested=nested)
            self.assertEqual(self.box("echo 100000 2>/dev/null >/proc/sys/user/max_inotify_instances && echo written; true"), "")

    def test_half_of_signals_and_queues_are_left(self):
        def limits(text):
            return {name: value for name, value in (line.split() for line in text.splitlines())}
        command = "prlimit -o RESOURCE,HARD --noheadings | grep -E '^(SIGPENDING|MSGQUEUE)'"
        outside = limits(subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, text=True, check=True).stdout)
        inside = limits(self.box(command))
        self.assertEqual(set(outside), {"SIGPENDING", "MSGQUEUE"})
        for name, value in outside.items():
            self.assertEqual(inside[name], value if value == "unlimited" else str(int(value) // 2), name)

    def test_no_lease_makes_the_host_wait(self):
        """On a file that the box can only read."""
        path = self.home / "notes"
        path.write_text("x")
        box = self.start("--mount-ro", path, "--exec", "/usr/bin/python3", "-c", LEASE, path)
        said = [box.stdout.readline().strip() for _ in range(4)]
        self.assertEqual(said, ["read EPERM", "write EPERM", "delegation EPERM", "True"])
        started = time.monotonic()
        path.write_text("y")
        self.assertLess(time.monotonic() - started, 5)


if __name__ == "__main__":
    unittest.main()
