# SPDX-License-Identifier: MIT
"""With a real Nix daemon: the box can build and fetch, and do nothing else with the daemon."""
import json
import os
import pathlib
import subprocess
import unittest

from lib.box import CLAUDEBOX, processes_with, until
from lib.inet import InetTest
from lib.nix import SYSTEM, NixTest

NEEDS_NIX = True

# Programs of the store run, and the daemon is not reachable.
WITHOUT = """
$1/bin/hello
ls -d /nix/var 2>/dev/null
echo ${NIX_REMOTE-no daemon}
NIX_REMOTE=daemon nix --extra-experimental-features nix-command store ping && echo reached
"""


class NixStore(NixTest):
    def start(self, script, env=None):
        """Starts a box that prints "ready", and runs the script at the end of its input."""
        box = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", f"echo ready; cat; {script}"], cwd=self.project,
                               env={**self.env, **(env or {})}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(box.kill)
        self.assertEqual(box.stdout.readline(), "ready\n")
        return box

    def test_later_builds_appear_in_a_running_box(self):
        late = self.where("late")["out"]
        box = self.start(f"{late}/bin/late")
        self.assertFalse(pathlib.Path(late).exists())
        self.build("late")
        self.assertEqual(box.communicate(timeout=20)[0], "late from Nix\n")

    def test_the_store_is_read_only(self):
        hello = self.build("hello")["out"]
        out = self.box("""
            cd /nix/store
            for command in 'touch x' 'mkdir x' "touch $1/bin/hello" "chmod u+w $1" "rm -rf $1" "mv $1 x" "ln $1/bin/hello x"; do
                $command 2>/dev/null && echo "done: $command"
            done
            $1/bin/hello""", hello)
        self.assertEqual(out, "hello from Nix\n")

    def test_a_running_box_keeps_what_is_on_its_PATH(self):
        hello = self.build("hello")["out"]
        box = self.start("hello", env={"PATH": f"{self.env['PATH']}:{hello}/bin"})
        self.collect()
        self.assertEqual(box.communicate(timeout=20)[0], "hello from Nix\n")
        self.collect()
        self.assertFalse(pathlib.Path(hello).exists())

    def test_the_tier_none_has_no_daemon(self):
        done = self.claudebox("--yes", "--network", "none", "--exec", "sh", "-c", WITHOUT, "sh", self.build("hello")["out"])
        self.assertEqual(done.stdout, "hello from Nix\nno daemon\n")
        self.assertIn("cannot connect to", done.stderr)


class NixDaemonInside(NixTest):
    """Tests that need the daemon in the box. A daemon that runs as the user and builds without a sandbox is not mounted."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.alone:
            raise unittest.SkipTest("the daemon runs as the user")

    def test_nix_shell(self):
        """As the instructions say, also on the result, which stays in the store."""
        self.assertEqual(self.box("grep -c 'run it with `nix shell nixpkgs#NAME -c COMMAND`' /etc/claude-code/CLAUDE.md; "
                                  "nix shell nixpkgs#hello nixpkgs#two -c sh -c 'hello; two'"), "1\nhello from Nix\ntwo from Nix\n")
        self.assertTrue(pathlib.Path(self.where("hello")["out"]).exists())

    def test_nix_build_and_run(self):
        out = self.box("nix build --no-link --json nixpkgs#python3Packages.tool")
        self.assertEqual(json.loads(out)[0]["outputs"], self.where("python3Packages.tool"))
        self.assertEqual(self.box("nix run nixpkgs#hello; nix-store --realise $(nix eval --raw nixpkgs#hello.drvPath)", timeout=20),
                         f"hello from Nix\n{self.where('hello')['out']}\n")

    def test_a_flake_of_the_project(self):
        (self.project / "flake.nix").write_text(
            f"{{ outputs = {{ self, nixpkgs }}: {{ packages.{SYSTEM}.default = nixpkgs.legacyPackages.{SYSTEM}.hello; }}; }}")
        self.assertEqual(self.box("nix run path:."), "hello from Nix\n")
        self.assertTrue((self.project / "flake.lock").exists())

    def test_a_link_in_the_project_keeps_what_was_built(self):
        self.box("nix build nixpkgs#both")
        self.collect()
        self.assertEqual(os.readlink(self.project / "result"), self.where("both")["out"])
        self.assertTrue((self.project / "result/bin/both").exists())

    def test_failing_build_shows_the_reason(self):
        done = self.claudebox("--yes", "--exec", "nix", "build", "--no-link", "nixpkgs#broken")
        self.assertEqual(done.returncode, 1)
        self.assertIn("why it fails", done.stderr)

    def test_only_the_socket_is_mounted(self):
        self.assertEqual(self.box("cd /nix; find . -path ./store -prune -o -print | sort; touch var/nix/daemon-socket/x; "
                                  "rm -f var/nix/daemon-socket/socket; echo $NIX_REMOTE"),
                         "".join(f"{line}\n" for line in (".", "./var", "./var/nix", "./var/nix/daemon-socket",
                                                          "./var/nix/daemon-socket/socket", "daemon")))
        self.nix("store", "ping")

    def test_box_cannot_change_trusted_settings(self):
        """Only a trusted user may change this setting, which runs a program as root outside the box."""
        hook = self.project / "hook"
        hook.write_text(f"#!/bin/sh\ntouch {self.project}/ran\n")
        hook.chmod(0o755)
        self.project.chmod(0o777)
        self.box("nix build --no-link --option post-build-hook $PWD/hook nixpkgs#nobin")
        self.assertTrue(pathlib.Path(self.where("nobin")["out"]).exists())
        self.assertFalse((self.project / "ran").exists())

    def test_a_build_ends_with_its_box(self):
        box = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "nix", "build", "--no-link", "nixpkgs#slow"], cwd=self.project,
                               env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(box.kill)
        mark = "sleep\x0030\x00"
        self.assertTrue(until(lambda: processes_with(mark), 20))
        box.terminate()
        box.wait(10)
        self.assertTrue(until(lambda: not processes_with(mark)))

    def test_a_profile_can_have_it_in_the_tier_none(self):
        self.profile(network="none", nix_daemon=True)
        done = self.claudebox("--yes", "--exec", "nix", "run", "nixpkgs#hello")
        self.assertEqual(done.stdout, "hello from Nix\n")
        self.assertIn("! the box has the Nix daemon, as requested", done.stderr)

    def test_check_finds_the_daemon(self):
        checks = json.loads(self.claudebox("--check=json").stdout)["checks"]
        self.assertEqual([(check["state"], check["detail"]) for check in checks if check["name"] == "nix"],
                         [("ok", "the daemon is reachable")])


class NixDaemonAndInet(NixTest, InetTest):
    def test_nix_without_the_daemon_says_which_key_adds_it(self):
        done = self.claudebox("--yes", "--network", "none", "--exec", "sh", "-c", "nix shell nixpkgs#hello -c hello; echo $?; nix --version; command -v nix")
        self.assertRegex(done.stderr, r'(?m)^claudebox: this box does not have the Nix daemon: .*"nix_daemon": true in a profile adds it$')
        self.assertNotIn("experimental", done.stderr)
        # A command that works says nothing more, and a failure keeps its status.
        self.assertRegex(done.stdout, r"^[1-9]\d*\nnix \(Nix\) .*\n/run/claudebox/nix/nix\n$")
        self.assertEqual(done.stderr.count("claudebox: this box does not have the Nix daemon"), 1)

    def test_the_tier_inet_has_no_daemon(self):
        done = self.inet("sh", "-c", WITHOUT, "sh", self.build("hello")["out"])
        self.assertEqual(done.stdout, "hello from Nix\nno daemon\n")
        self.assertIn("cannot connect to", done.stderr)

    def test_a_profile_can_have_it_in_the_tier_inet(self):
        if self.alone:
            self.skipTest("the daemon runs as the user")
        self.profile(nix_daemon=True)
        self.assertEqual(self.inet("nix", "run", "nixpkgs#hello").stdout, "hello from Nix\n")


if __name__ == "__main__":
    unittest.main()
