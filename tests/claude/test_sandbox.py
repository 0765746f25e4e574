# SPDX-License-Identifier: MIT
"""Claude Code's own sandbox: off in an ordinary box, whoever switched it on, so that its Bash tool works; as the user set it in a nested one."""
import json
import os
import subprocess
import unittest

from claude.claude import ClaudeTest

AS_ROOT = True
ON = json.dumps({"sandbox": {"enabled": True, "failIfUnavailable": True, "allowUnsandboxedCommands": False}})
LOOK = "RUN: echo works-$((40+2)) in=[${SANDBOX_RUNTIME:-none}]"


class Sandbox(ClaudeTest):
    def settings(self, *places):
        for place in places:
            place.parent.mkdir(exist_ok=True)
            place.write_text(ON)

    def user(self):
        return self.home / ".claude" / "settings.json"

    def project_files(self):
        return [self.project / ".claude" / name for name in ("settings.json", "settings.local.json")]

    def works(self, *arguments, **options):
        done = self.claude(*arguments, "-p", LOOK, **options)
        self.assertIn("works-42 in=[none]", done.stdout, done.stderr[-600:])
        return done

    def test_the_users_setting_is_off_and_said(self):
        self.settings(self.user())
        self.assertIn("Claude's own sandbox", self.works().stderr)
        self.assertEqual(self.user().read_text(), ON)

    def test_the_projects_setting_is_off(self):
        self.settings(*self.project_files())
        self.works()

    def test_without_our_word_it_would_fail(self):
        """The counterpart: the same box, started without that setting."""
        self.settings(*self.project_files())
        self.claude("--exec", "true")
        ours = "  --settings \\\n  '{\"sandbox\":{\"enabled\":false}}' \\\n"
        script = self.claudebox("--dry-run", "-p", LOOK).stdout
        self.assertIn(ours, script)
        done = subprocess.run(["sh", "-c", script.replace(ours, "")], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120)
        self.assertNotIn("works-42", done.stdout)

    def test_all_of_them_and_settings_on_the_command_line(self):
        self.settings(self.user(), *self.project_files())
        self.works("--settings", ON)
        self.works(f"--settings={ON}")

    def test_a_settings_file_of_the_users_is_warned_about(self):
        (self.project / "mine.json").write_text("{}")
        self.assertIn("'--settings' is yours", self.works("--settings", "mine.json").stderr)

    def test_with_nested_the_setting_is_the_users(self):
        self.profile(nested=True)
        if os.getuid() == 0:
            self.assertIn("not for root", self.refused("--yes", "-p", "x"))
            return
        self.works()
        self.settings(self.user())
        done = self.turn(LOOK + "; touch inside-project; touch /etc/hit || echo closed")
        self.assertIn("works-42 in=[1]", done.stdout, done.stdout + done.stderr[-600:])
        self.assertTrue((self.project / "inside-project").exists())


class OldSandbox(Sandbox):
    kind = "CLAUDE_OLD"

    def test_with_nested_the_setting_is_the_users(self):
        """Not with this one: npm unpacks a helper of its sandbox without the right to execute it."""


del ClaudeTest

if __name__ == "__main__":
    unittest.main()
