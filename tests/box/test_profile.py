# SPDX-License-Identifier: MIT
"""The box gets the settings of its profile, and the audit shows their origin."""
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.terminal import Terminal

AS_ROOT = True


class Profile(BoxTest):
    def run_in(self, script, *options, env=None):
        done = self.claudebox(*options, "--yes", "--audit=full", "--exec", "sh", "-c", script, env=env)
        self.assertNotEqual(done.returncode, 125, done.stderr[-500:])
        return done.stdout, done.stderr

    def test_the_description_is_shown(self):
        self.profile("base", description="the base")
        self.profile("work", extends="base", description="the customer's cloud, internet only")
        _, said = self.run_in("true", "--profile", "work")
        self.assertEqual(said.splitlines()[1], "           the customer's cloud, internet only")
        self.assertEqual(self.plan("--profile", "work")["profile_description"], "the customer's cloud, internet only")
        self.profile("work", extends="base")
        self.assertIsNone(self.plan("--profile", "work")["profile_description"])
        self.profile("work", description="\u202eevil" + "x" * 150)
        said = self.run_in("true", "--profile", "work")[1]
        self.assertRegex(said.splitlines()[1], r"^ +\\xe2\\x80\\xaeevilx+$")

    def test_variables(self):
        self.profile("work", env={"AWS_PROFILE": "work", "EDITOR": "ed"}, extra_env_passthrough=["MY_ORG", "UNSET_ONE"])
        out, said = self.run_in('echo "$AWS_PROFILE,$EDITOR,$MY_ORG,${UNSET_ONE-unset}"', "--profile", "work", env={"MY_ORG": "acme", "EDITOR": "vi"})
        self.assertEqual(out, "work,ed,acme,unset\n")
        for line in (rf"\[\+\] {name} +\*{{8}}  \(profile work\)" for name in ("AWS_PROFILE", "MY_ORG", "EDITOR")):
            self.assertRegex(said, line)
        self.assertIn("(profile work)", said.splitlines()[0])

    def test_a_secret_in_the_profile_gives_a_warning(self):
        self.profile(env={"PLAIN": "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345", "MY_TOKEN": "x" * 30})
        _, said = self.run_in("true")
        for name in ("PLAIN", "MY_TOKEN"):
            self.assertIn(f"'{name}' is a secret in plain text in profile default", said)
        self.assertNotIn("x" * 30, said)

    def test_a_value_in_the_place_of_a_name_is_not_shown(self):
        for profile in ({"env": {"A=canary-value": "x"}}, {"extra_env_passthrough": ["A=canary-value"]}):
            self.profile(**profile)
            said = self.refused()
            self.assertIn("'A=...' is not a valid variable name", said)
            self.assertNotIn("canary", said)

    def test_reserved_variables_are_refused(self):
        for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "PATH", "CLAUDE_CONFIG_DIR", "HOME", "IFS", "GIT_CONFIG_COUNT"):
            self.profile(env={name: "/x"})
            self.assertIn(name, self.refused())
            self.profile(extra_env_passthrough=[name])
            self.assertIn(name, self.refused())

    def test_mounts(self):
        data = self.scratch()
        (data / "file").write_text("content\n")
        self.profile(mounts=[{"host": str(data)}, {"host": str(data / "file"), "sandbox": "~/here", "mode": "rw"}])
        out, said = self.run_in(f"cat {data}/file; echo more >>~/here; touch {data}/x 2>/dev/null || echo refused")
        self.assertEqual(out, "content\nrefused\n")
        self.assertEqual((data / "file").read_text(), "content\nmore\n")
        self.assertIn("(profile default)", said)

    def test_a_missing_source(self):
        self.profile(mounts=[{"host": "~/nothing"}])
        self.assertIn("default.json': line 1, column 22: 'mounts[0].host': '~/nothing' does not exist", self.refused())

    def test_a_secret_that_is_named_exactly(self):
        (self.home / ".aws").mkdir()
        (self.home / ".aws" / "credentials").write_text("CANARY\n")
        self.profile(mounts=[{"host": "~/.aws/credentials", "sandbox": "~/.aws/credentials", "mode": "ro"}])
        out, said = self.run_in("cat ~/.aws/credentials")
        self.assertEqual(out, "CANARY\n")
        self.assertIn("SECRET: AWS credentials", said)

    def test_the_project_read_only(self):
        self.repository(self.project)
        self.profile("review", project="read-only")
        out, said = self.run_in("cat file.txt; touch new 2>&1; git status --short; git log --oneline | wc -l; cat /etc/claude-code/SANDBOX.md",
                                "--profile", "review")
        self.assertTrue(out.startswith("one\n"))
        self.assertIn("Read-only file system", out)
        self.assertIn("` is read-only.", out)
        self.assertRegex(said, r"read-only +~/project \(the project, read-only\)")
        self.assertFalse((self.project / "new").exists())

    def test_the_command_line_overrides_the_profile(self):
        self.profile(network="none")
        self.assertEqual(self.plan()["network"], "none")
        self.assertEqual(self.plan("--network", "full")["network"], "full")

    def test_settings_have_their_origin(self):
        self.profile("base", terminal="direct", confirm="changed")
        self.profile("work", extends="base", confirm="never", nix_daemon=True, nested=False, network="none")
        wanted = {"terminal": {"value": "direct", "origin": "profile base"}, "confirm": {"value": "never", "origin": "profile work"},
                  "nix_daemon": {"value": True, "origin": "profile work"}, "network": {"value": "none", "origin": "profile work"}}
        self.assertEqual(self.plan("--profile", "work")["settings"], wanted)
        wanted["network"]["origin"] = "--network"
        self.assertEqual(self.plan("--profile", "work", "--network", "none")["settings"], wanted)
        self.assertEqual(self.plan()["settings"], {})

    def test_confirm(self):
        def asks(*options):
            terminal = Terminal([CLAUDEBOX, *options, "--exec", "echo", "it-runs"], {**self.env, "NO_COLOR": "1"}, str(self.project), columns=200)
            self.addCleanup(terminal.close)
            found = terminal.expect(r"Start\? \[y/N\]|^it-runs")[0]
            if found.startswith(b"Start"):
                terminal.send("y\n")
            self.assertEqual(terminal.wait(20), 0)
            return found.startswith(b"Start")

        self.assertTrue(asks())
        self.assertTrue(asks())
        self.profile(confirm="never")
        self.assertFalse(asks())
        self.profile(confirm="changed")
        self.assertFalse(asks())
        self.assertFalse(asks("--network", "none"), "a smaller box needs no question")
        self.profile(confirm="always")
        self.assertTrue(asks("--network", "none"))
        self.profile(confirm="changed")
        self.assertFalse(asks("--network", "none"))
        self.assertTrue(asks())
        self.assertFalse(asks())

    def test_without_a_terminal_changed_does_not_start(self):
        self.profile(confirm="changed")
        self.assertIn("no terminal", self.refused("--exec", "true"))

    def test_a_project_cannot_choose_a_profile(self):
        (self.project / ".claudebox").mkdir()
        for name in ("default.json", "profiles"):
            path = self.project / ".claudebox" / name
            path.write_text('{"network": "none", "env": {"CANARY": "1"}}')
        (self.project / ".env").write_text("CLAUDEBOX_PROFILE=evil\n")
        plan = self.plan()
        self.assertEqual(plan["network"], "full")
        self.assertIsNone(plan["profile"])


if __name__ == "__main__":
    unittest.main()
