# SPDX-License-Identifier: MIT
"""--check with a real Nix: packages of a profile make the checks of Nix required, and nothing is built."""
import json
import os
import unittest

from lib.nix import NixTest

NEEDS_NIX = True


class CheckNix(NixTest):
    def check(self, *arguments, env=None):
        """Returns {name: entry}, and whether a box can start."""
        done = self.claudebox("--check=json", *arguments, env=env)
        whole = json.loads(done.stdout)
        self.assertEqual((done.returncode, done.stderr), (0 if whole["starts"] else 1, ""))
        return {entry["name"]: entry for entry in whole["checks"]}, whole["starts"]

    def test_without_packages_nix_is_not_needed(self):
        found, starts = self.check()
        self.assertEqual((found["packages"]["state"], found["packages"]["detail"]), ("ok", "none configured"))
        self.assertEqual((found["nix"]["required"], found["packages"]["required"], starts), (False, False, True))

    def test_packages_are_evaluated_and_not_built(self):
        self.profile("late", "two")
        path = self.where("late")["out"]
        if os.path.exists(path):
            self.nix("store", "delete", path)
        found, starts = self.check()
        self.assertEqual((found["nix"]["required"], found["packages"]["required"], starts), (True, True, True))
        self.assertEqual(found["packages"]["detail"], "late, two: found; the next start builds or fetches missing packages")
        self.assertFalse(os.path.exists(path))
        self.box("true")
        found, _ = self.check()
        self.assertEqual(found["packages"]["detail"], "late, two: cached and in the store")

    def test_wrong_package_name(self):
        self.profile("hello", "helo")
        found, starts = self.check()
        self.assertEqual((found["packages"]["state"], found["packages"]["fix"], starts), ("broken", "did you mean hello?", False))
        self.assertIn("'packages[1]': 'helo' is not in 'nixpkgs'", found["packages"]["detail"])

    def test_missing_reference(self):
        self.profile("hello", nixpkgs="path:/nowhere")
        found, starts = self.check()
        self.assertEqual((found["packages"]["state"], starts), ("broken", False))
        # This one may exist on the internet.
        self.profile("hello", nixpkgs="github:example/nixpkgs")
        found, starts = self.check()
        self.assertEqual((found["packages"]["state"], starts), ("ok", True))
        self.assertIn("not evaluated yet", found["packages"]["detail"])

    def test_no_nix_program(self):
        self.profile("hello")
        empty = self.scratch()
        (empty / "bwrap").symlink_to("/usr/bin/bwrap")
        found, starts = self.check(env={"PATH": str(empty)})
        self.assertEqual((found["packages"]["state"], found["packages"]["detail"], starts), ("broken", "nix is not installed", False))

    def test_daemon_is_checked_in_every_tier(self):
        """--check connects to the daemon even in a tier without it."""
        self.profile(network="none")
        found, starts = self.check()
        self.assertEqual(found["nix"]["state"], "broken" if self.alone else "ok")
        self.assertTrue(starts)


if __name__ == "__main__":
    unittest.main()
