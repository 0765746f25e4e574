# SPDX-License-Identifier: MIT
"""A user whom the Nix daemon trusts can run commands as root through it. The box of such a user cannot."""
import json
import unittest

from lib.nix import NixTest

NEEDS_NIX = True
NIX_TRUSTS_US = True
AS_ROOT = True


class NixTrusted(NixTest):
    def test_box_cannot_use_the_users_trust(self):
        hook, ran = self.project / "hook", self.home / "ran"
        hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
        hook.chmod(0o755)
        for name, options in (("nobin", "--option post-build-hook $PWD/hook"),
                              ("file", "--option builders ssh://x --option build-hook $PWD/hook")):
            with self.subTest(options):
                ran.unlink(missing_ok=True)
                self.box(f"NIX_REMOTE=daemon nix --extra-experimental-features 'nix-command flakes' build --no-link {options} nixpkgs#{name}")
                self.assertFalse(ran.exists())
        # Positive control: it works outside.
        self.nix("build", "--no-link", "--store", "daemon", "--option", "post-build-hook", hook, "nixpkgs#nobin")
        self.assertTrue(ran.exists())

    def test_daemon_is_not_mounted(self):
        done = self.claudebox("--yes", "--audit=full", "--exec", "sh", "-c", "ls -d /nix/var; echo ${NIX_REMOTE-none}; ls -d /nix/store")
        self.assertEqual(done.stdout, "none\n/nix/store\n")
        self.assertRegex(done.stderr, r"the box does not have the Nix daemon: (it trusts you \(trusted-users|you are root)")

    def test_nix_in_the_box_says_why_and_what_to_change(self):
        done = self.claudebox("--yes", "--exec", "nix", "shell", "nixpkgs#hello", "-c", "hello")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("experimental", done.stderr)
        self.assertRegex(done.stderr, r"(?m)^claudebox: this box does not have the Nix daemon: (it trusts you .* remove yourself from that list"
                                      "|you are root.* start claudebox as an ordinary user)")

    def test_profile_cannot_add_the_daemon(self):
        self.profile(nix_daemon=True)
        for tier in ("full", "none"):
            done = self.claudebox("--yes", "--audit=full", "--network", tier, "--exec", "sh", "-c", "ls -d /nix/var; echo ${NIX_REMOTE-none}")
            self.assertEqual(done.stdout, "none\n")
            self.assertIn("the box does not have the Nix daemon: ", done.stderr)
        self.profile(mounts=[{"host": "/nix/var/nix", "sandbox": "/nix/var/nix", "mode": "ro"}])
        done = self.claudebox("--yes", "--exec", "ls", "/nix/var/nix/daemon-socket/socket")
        self.assertNotIn("socket", done.stdout)

    def test_check_shows_the_reason(self):
        check, = [check for check in json.loads(self.claudebox("--check=json").stdout)["checks"] if check["name"] == "nix"]
        self.assertEqual(check["state"], "broken")
        self.assertRegex(check["detail"], "^the daemon is left out of the box: (it trusts you|you are root)")
        self.assertRegex(check["fix"], "ordinary user|from that list")

    def test_packages_are_still_built_on_the_host(self):
        self.profile("hello")
        whole = json.loads(self.claudebox("--check=json").stdout)
        nix, = [check for check in whole["checks"] if check["name"] == "nix"]
        self.assertEqual((nix["state"], nix["required"], whole["starts"]), ("broken", True, True))
        self.assertEqual(self.box("hello"), "hello from Nix\n")


if __name__ == "__main__":
    unittest.main()
