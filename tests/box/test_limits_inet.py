# SPDX-License-Identifier: MIT
"""Limits in tier inet: the processes of the box are limited, the network helpers are not."""
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
# Connects to a service of the internet while the process limit is reached.
CROWDED = FORKS.replace("print(len(children))", """
import socket
with socket.create_connection(("203.0.113.10", 80), 20) as connection:
    connection.sendall(b"hello")
    print(connection.recv(100).decode())
""")
TIMEOUT = 60  # in seconds; user-mode Linux is slow


class LimitsAndInet(InetTest):
    def setUp(self):
        super().setUp()
        if subprocess.run(["unshare", *([] if os.getuid() == 0 else ["--user", "--map-root-user"]), "--net", "nft", "add table inet x"],
                          stderr=subprocess.DEVNULL, check=False).returncode:
            self.without_rules()

    def without_rules(self):
        """Replaces nft on a kernel without nf_tables: this module does not test the rules."""
        directory = self.scratch()
        shutil.copy("/usr/bin/true", directory / "nft")
        self.env["PATH"] = f"{directory}:{self.env['PATH']}"

    def claudebox(self, *arguments, **options):
        return super().claudebox(*arguments, timeout=TIMEOUT, **options)

    def nothing_left(self):
        super().nothing_left()
        self.assertEqual(list(PARENT.glob("claudebox-*")), [])

    def test_the_network_works_when_the_process_limit_is_reached(self):
        self.profile(limits={"pids": 40, "memory": "96M"}, network="inet")
        done = self.inet("/usr/bin/python3", "-c", CROWDED, "200")
        self.assertRegex(done.stdout, r"^refused 11\nreached ::ffff:203\.0\.113\.10 hello\n$", done.stderr[-800:])

    def test_network_helpers_are_not_in_the_cgroup(self):
        self.profile(limits={"pids": 40}, network="inet")
        session = self.start("sh", "-c", "echo ready; read -r _; true").expect()
        cgroup, = PARENT.glob("claudebox-*")
        self.assertEqual([(cgroup / name).read_text().strip() for name in ("pids.max", "cgroup.procs")], ["40", ""])
        members = (cgroup / "box/cgroup.procs").read_text().split()
        self.assertEqual(sorted(name_of(pid) for pid in members), ["bwrap", "claudebox-init", "sh"])
        self.assertEqual(session.finish(TIMEOUT)[0], 0)

    def test_limits_that_are_not_in_effect_stop_the_start(self):
        """The network helpers end, too."""
        self.profile(limits={"pids": 40}, network="inet")
        directory = self.scratch()
        (directory / "bwrap").write_text(f'#!/bin/sh\n# --disable-userns --ro-bind-fd\necho 0 >{PARENT}/leaf/cgroup.procs\nexec /usr/bin/bwrap "$@"\n')
        (directory / "bwrap").chmod(0o755)
        done = self.claudebox("--yes", "--exec", "true", env={"PATH": f"{directory}:{self.env['PATH']}"})
        self.assertEqual(done.returncode, 125)
        self.assertIn("cannot limit the box: it is not in the cgroup with the limits", done.stderr)


if __name__ == "__main__":
    unittest.main()
