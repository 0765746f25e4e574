# SPDX-License-Identifier: MIT
"""SAND-07: the daemon runs what a user that it trusts tells it to run, as root; a box must not have that power."""
import unittest

from lib.nix import NixTest

NEEDS_NIX = True
NIX_TRUSTS_US = True


class NixTrusted(NixTest):
    @unittest.expectedFailure
    def test_SAND_07_a_box_has_nothing_of_the_users_trust(self):
        hook, ran = self.project / "hook", self.home / "ran"
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
        for name, options in (("nobin", "--option post-build-hook $PWD/hook"),
                              ("file", "--option builders ssh://x --option build-hook $PWD/hook")):
            with self.subTest(options):
                ran.unlink(missing_ok=True)
                self.box(f"nix build --no-link {options} nixpkgs#{name}")
                self.assertFalse(ran.exists())


if __name__ == "__main__":
    unittest.main()
