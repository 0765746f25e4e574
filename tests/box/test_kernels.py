# SPDX-License-Identifier: MIT
"""Older kernels: a missing feature is replaced, or the audit reports it; no other attack
succeeds."""
import errno
import json
import unittest

from box import kernel
from lib.box import BoxTest

AS_ROOT = True

OLDER = {
    "5.10": kernel.without(*kernel.SINCE["5.10"]),
    "without close_range": kernel.without("close_range"),
    "5.10 in a container that forbids openat2": kernel.without("openat2", error=errno.EPERM),
    "without openat2": kernel.without("openat2"),
    "without pidfd_open": kernel.without("pidfd_open"),
    "without clone3": kernel.without("clone3"),
    "without Landlock": kernel.without(*kernel.LANDLOCK),
}


class Kernels(BoxTest):
    def proof(self, tier, apply):
        done = self.claudebox("--network", tier, "--prove=json", preexec_fn=apply)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        proof = json.loads(done.stdout)
        self.assertTrue(proof["complete"], done.stderr)
        return {row["name"] for row in proof["attacks"] if row["verdict"] == "leaked"}

    def test_a_box_starts_and_ends(self):
        for name, apply in OLDER.items():
            with self.subTest(name):
                done = self.claudebox("--yes", "--exec", "sh", "-c", "echo here; exit 7", preexec_fn=apply)
                self.assertEqual((done.returncode, done.stdout), (7, "here\n"), done.stderr)

    def test_a_mount_in_another_is_moved_there(self):
        project = self.repository(self.home / "repo") / "sub"
        project.mkdir()
        for name, apply in OLDER.items():
            with self.subTest(name):
                done = self.claudebox("--yes", "--exec", "sh", "-c", "pwd; touch here ../there", cwd=project, preexec_fn=apply)
                self.assertEqual((done.returncode, done.stdout), (1, f"{project}\n"), done.stderr)
                self.assertEqual([path.name for path in project.iterdir()], ["here"])
                self.assertFalse((project.parent / "there").exists())

    def test_nothing_leaks_with_a_network_of_its_own(self):
        for name, apply in OLDER.items():
            with self.subTest(name):
                self.assertEqual(self.proof("none", apply), set())

    def test_what_leaks_in_full_is_what_was_warned_of(self):
        for name in ("5.10", "without Landlock"):
            with self.subTest(name):
                self.assertEqual(self.proof("full", OLDER[name]), kernel.ONLY_LANDLOCK)
                done = self.claudebox("--yes", "--exec", "true", preexec_fn=OLDER[name])
                self.assertRegex(done.stderr, r"(?m)^  ! the box can reach abstract Unix sockets")


if __name__ == "__main__":
    unittest.main()
