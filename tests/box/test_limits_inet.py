# SPDX-License-Identifier: MIT
"""Limits and the tier inet together: the box's processes are limited, those that carry its network are not."""
import os
import pathlib
import shutil
import subprocess
import unittest

from lib.inet import InetTest, name_of
from lib.limits import FORKS

AS_ROOT = True
NEEDS_CGROUP = True

PARENT = pathlib.Path(os.environ["CGROUP_TEST"])
# Reaches a service of the internet, with as many processes beside it as there can be.
CROWDED = FORKS.replace("print(len(children))", """
import socket
with socket.create_connection(("203.0.113.10", 80), 20) as connection:
    connection.sendall(b"hello")
    print(connection.recv(100).decode())
""")
WORLD_SECONDS = 60  # a kernel in a program is slow


class LimitsAndInet(InetTest):
    def setUp(self):
        super().setUp()
        if subprocess.run(["unshare", *([] if os.getuid() == 0 else ["--user", "--map-root-user"]), "--net", "nft", "add table inet x"],
                          stderr=subprocess.DEVNULL, check=False).returncode:
            self.without_rules()

    def without_rules(self):
        """Where the kernel has no such tables: they are not what is tried here."""
        directory = self.scratch()
        shutil.copy("/usr/bin/true", directory / "nft")
        self.env["PATH"] = f"{directory}:{self.env['PATH']}"

    def claudebox(self, *arguments, **options):
        return super().claudebox(*arguments, timeout=WORLD_SECONDS, **options)

    def nothing_left(self):
        super().nothing_left()
        self.assertEqual(list(PARENT.glob("claudebox-*")), [])

    def test_a_full_box_has_its_network(self):
        self.profile(limits={"pids": 40, "memory": "96M"}, network="inet")
        done = self.inet("/usr/bin/python3", "-c", CROWDED, "200")
        self.assertRegex(done.stdout, r"^refused 11\nreached ::ffff:203\.0\.113\.10 hello\n$", done.stderr[-800:])

    def test_only_the_box_is_limited(self):
        self.profile(limits={"pids": 40}, network="inet")
        session = self.start("sh", "-c", "echo ready; read -r _; true").expect()
        cgroup, = PARENT.glob("claudebox-*")
        self.assertEqual([(cgroup / name).read_text().strip() for name in ("pids.max", "cgroup.procs")], ["40", ""])
        members = (cgroup / "box/cgroup.procs").read_text().split()
        self.assertEqual(sorted(name_of(pid) for pid in members), ["bwrap", "claudebox-init", "sh"])
        self.assertEqual(session.finish(WORLD_SECONDS)[0], 0)

    def test_limits_that_are_not_in_force_stop_the_start(self):
        """And the network that was attached goes with it."""
        self.profile(limits={"pids": 40}, network="inet")
        directory = self.scratch()
        (directory / "bwrap").write_text(f'#!/bin/sh\n# --disable-userns --ro-bind-fd\necho 0 >{PARENT}/leaf/cgroup.procs\nexec /usr/bin/bwrap "$@"\n')
        (directory / "bwrap").chmod(0o755)
        done = self.claudebox("--yes", "--exec", "true", env={"PATH": f"{directory}:{self.env['PATH']}"})
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot limit the box: it is not in the cgroup that has the limits", done.stderr)


if __name__ == "__main__":
    unittest.main()
