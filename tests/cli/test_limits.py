# SPDX-License-Identifier: MIT
"""Limits that this machine cannot set: nothing starts, and the error gives the reason and a remedy."""
import unittest

from lib.limits import LimitsTest


class NoLimits(LimitsTest):
    def setUp(self):
        super().setUp()
        directory = self.scratch()
        (directory / "bwrap").symlink_to("/usr/bin/bwrap")
        self.env["PATH"] = str(directory)

    def test_an_impossible_limit_is_an_error(self):
        for limits in ({"memory": "4G"}, {"pids": 2000}, {"cpu": "200%"}):
            self.profile(limits)
            for arguments in ((), ("--dry-run", "--exec", "true"), ("--dry-run=json", "--exec", "true")):
                said = self.refused(*arguments)
                self.assertRegex(said, r"claudebox: cannot limit the box: .*, and systemd-run is not installed\n")
                self.assertIn('hint: log in through systemd', said)
            done = self.claudebox("--check")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, r"(?m)^missing  limits     cannot limit the box: .*[^)]$")

    def test_without_limits_the_box_starts(self):
        self.profile({})
        self.assertEqual(self.claudebox("--yes", "--exec", "true").returncode, 0)
        self.assertEqual(self.plan("--exec", "true")["limits"], None)
        self.assertRegex(self.claudebox("--check").stdout, r"(?m)^missing  limits     cannot limit the box: .* \(not needed\)$")


if __name__ == "__main__":
    unittest.main()
