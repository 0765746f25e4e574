# SPDX-License-Identifier: MIT
"""The first start: whatever is not there yet, three lines say what is happening and what to do."""
import json
import os
import re
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.terminal import Terminal

STORE = ".claudebox/sign-in/store"


class FirstRun(BoxTest):
    def note(self, title, *arguments, env=None):
        """The lines under that head in the audit; None: there is no such head."""
        done = self.claudebox("--yes", *arguments, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.search(rf"(?m)^{title}:\n((?:  .*\n)+)", done.stderr)
        return found and found[1].splitlines()

    def said(self, *arguments, env=None):
        text = self.refused(*arguments, env=env)
        self.assertRegex(text, r"\Aclaudebox: .*\nnote: .*\nhint: .*\n\Z")
        return text

    def test_no_bwrap(self):
        text = self.said("--yes", env={"PATH": "/nonexistent"})
        for word in ("bwrap", "sandbox", "nothing was started", "apt install bubblewrap", "dnf", "pacman"):
            self.assertIn(word, text)
        self.assertFalse((self.home / ".claudebox").exists())

    def test_no_claude(self):
        text = self.said("--yes", env={"CLAUDEBOX_CLAUDE": "", "PATH": "/usr/bin:/bin"})
        for word in ("Claude Code", "not installed", "PATH", "npm install", "CLAUDEBOX_CLAUDE"):
            self.assertIn(word, text)
        self.assertFalse((self.home / ".claudebox").exists())

    def test_no_state(self):
        lines = self.note("First start")
        self.assertEqual(len(lines), 3)
        self.assertIn("~/.claudebox", lines[0])
        self.assertEqual((self.home / ".claudebox").stat().st_mode & 0o777, 0o700)
        self.assertIsNone(self.note("First start"))

    def test_no_state_is_told_before_the_question(self):
        terminal = Terminal((CLAUDEBOX,), self.env, self.project, columns=60)
        self.addCleanup(terminal.close)
        terminal.expect("First start:")
        terminal.expect("Not signed in:")
        terminal.expect(r"\[y/N\] ")
        terminal.send("n\n")
        self.assertEqual(terminal.wait(), 125)
        self.assertFalse((self.home / ".claudebox").exists())

    def test_no_sign_in(self):
        for _ in range(2):  # as long as it is so
            lines = self.note("Not signed in")
            self.assertEqual(len(lines), 3)
            self.assertIn("log in", lines[1])
            self.assertIn("kept for all boxes", lines[2])
        self.assertIn("--network inet", self.note("Not signed in", "--network", "none")[1])

    def test_signed_in_somehow(self):
        self.assertIsNone(self.note("Not signed in", env={"ANTHROPIC_API_KEY": "sk-ant-x"}))
        self.assertIsNone(self.note("Not signed in", env={"CLAUDE_CODE_USE_BEDROCK": "1", "CLAUDEBOX_EXTRA_ENV": "CLAUDE_CODE_USE_BEDROCK"}))
        self.assertIsNotNone(self.note("Not signed in", env={"CLAUDE_CODE_USE_BEDROCK": "1"}))
        self.assertIsNone(self.note("Not signed in", "--exec", "true"))
        claude = self.home / ".claude"
        claude.mkdir()
        (claude / "settings.json").write_text('{"env": {"CLAUDE_CODE_USE_VERTEX": "1"}}')
        self.assertIsNone(self.note("Not signed in"))
        (claude / "settings.json").unlink()
        (claude / ".credentials.json").write_text(json.dumps({"claudeAiOauth": {"accessToken": "x", "expiresAt": 1}}))
        self.assertIsNone(self.note("Not signed in"))

    def test_a_log_in_made_in_a_box_counts(self):
        self.assertIsNotNone(self.note("Not signed in"))
        (self.home / STORE / ".credentials.json").write_text("{}")
        self.assertIsNone(self.note("Not signed in"))

    def test_a_link_in_the_store_says_nothing_about_what_it_leads_to(self):
        self.note("Not signed in")
        os.symlink("/nonexistent", self.home / STORE / ".credentials.json")
        self.assertIsNone(self.note("Not signed in"))

    def test_scripts_see_no_notes(self):
        done = self.claudebox("--dry-run")
        self.assertNotIn("First start", done.stdout + done.stderr)
        self.assertNotIn("notes", self.plan())


if __name__ == "__main__":
    unittest.main()
