# SPDX-License-Identifier: MIT
"""Claude Code's own sandbox: always off in an ordinary box, where its Bash tool would fail; as configured in a nested box."""
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

    def user_file(self):
        return self.home / ".claude" / "settings.json"

    def project_files(self):
        return [self.project / ".claude" / name for name in ("settings.json", "settings.local.json")]

    def check_works(self, *arguments, **options):
        done = self.claude(*arguments, "-p", LOOK, **options)
        self.assertIn("works-42 in=[none]", done.stdout, done.stderr[-600:])
        return done

    def test_the_users_setting_is_overridden_and_reported(self):
        self.settings(self.user_file())
        self.assertIn("Claude's own sandbox", self.check_works().stderr)
        self.assertEqual(self.user_file().read_text(), ON)

    def test_the_projects_setting_is_overridden(self):
        self.settings(*self.project_files())
        self.check_works()

    def test_without_the_option_the_bash_tool_fails(self):
        """The same box without claudebox's setting, to show that the other tests can fail."""
        self.settings(*self.project_files())
        self.claude("--exec", "true")
        option = "  --settings \\\n  '{\"sandbox\":{\"enabled\":false}}' \\\n"
        script = self.claudebox("--dry-run", "-p", LOOK).stdout
        self.assertIn(option, script)
        done = subprocess.run(["sh", "-c", script.replace(option, "")], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120)
        self.assertNotIn("works-42", done.stdout)

    def test_all_settings_together_with_the_command_line(self):
        self.settings(self.user_file(), *self.project_files())
        self.check_works("--settings", ON)
        self.check_works(f"--settings={ON}")

    def test_a_settings_file_on_the_command_line_causes_a_warning(self):
        (self.project / "mine.json").write_text("{}")
        self.assertNotIn("'--settings' cannot be merged", self.check_works("--settings", "mine.json").stderr)
        (self.project / "mine.json").write_text(ON)
        self.assertIn("'--settings' cannot be merged", self.claudebox("--yes", "--settings", "mine.json", "-p", "x").stderr)

    def test_a_nested_box_keeps_the_users_setting(self):
        self.profile(nested=True)
        if os.getuid() == 0:
            self.assertIn("refused for root", self.refused("--yes", "-p", "x"))
            return
        self.check_works()
        self.settings(self.user_file())
        done = self.turn(LOOK + "; touch inside-project; touch /etc/hit || echo closed")
        self.assertIn("works-42 in=[1]", done.stdout, done.stdout + done.stderr[-600:])
        self.assertTrue((self.project / "inside-project").exists())


class OldSandbox(Sandbox):
    kind = "CLAUDE_OLD"

    def test_a_nested_box_keeps_the_users_setting(self):
        """Not tested with this version: npm unpacks a helper of its sandbox without execute permission."""


del ClaudeTest

if __name__ == "__main__":
    unittest.main()
