# SPDX-License-Identifier: MIT
"""The first start: for each missing part, three lines explain what happens and what to do."""
import json
import os
import re
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.terminal import Terminal

STORE = ".claudebox/sign-in/store"


class FirstRun(BoxTest):
    def note(self, title, *arguments, env=None):
        """Returns the lines under that heading in the audit, or None when there is no such heading."""
        done = self.claudebox("--yes", "--audit=full", *arguments, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.search(rf"(?m)^{title}:\n((?:  .*\n)+)", done.stderr)
        return found and found[1].splitlines()

    def error(self, *arguments, env=None):
        """Returns an error that consists of a message, a note and a hint."""
        text = self.refused(*arguments, env=env)
        self.assertRegex(text, r"\Aclaudebox: .*\nnote: .*\nhint: .*\n\Z")
        return text

    def test_no_bwrap(self):
        text = self.error("--yes", env={"PATH": "/nonexistent"})
        for word in ("bwrap", "sandbox", "nothing was started", "apt install bubblewrap", "dnf", "pacman"):
            self.assertIn(word, text)
        self.assertFalse((self.home / ".claudebox").exists())

    def test_no_claude(self):
        text = self.error("--yes", env={"CLAUDEBOX_CLAUDE": "", "PATH": "/usr/bin:/bin"})
        for word in ("Claude Code", "not installed", "PATH", "npm install", "CLAUDEBOX_CLAUDE"):
            self.assertIn(word, text)
        self.assertFalse((self.home / ".claudebox").exists())

    def test_no_state(self):
        lines = self.note("First start")
        self.assertEqual(len(lines), 3)
        self.assertIn("~/.claudebox", lines[0])
        self.assertEqual((self.home / ".claudebox").stat().st_mode & 0o777, 0o700)
        self.assertIsNone(self.note("First start"))

    def test_the_first_start_is_explained_before_the_question(self):
        terminal = Terminal((CLAUDEBOX,), self.env, self.project, columns=60)
        self.addCleanup(terminal.close)
        terminal.expect("First start:")
        terminal.expect("Not logged in:")
        terminal.expect(r"\[y/N\] ")
        terminal.send("n\n")
        self.assertEqual(terminal.wait(), 125)
        self.assertFalse((self.home / ".claudebox").exists())

    def test_no_credentials(self):
        for _ in range(2):  # it is repeated until the user logs in
            lines = self.note("Not logged in")
            self.assertEqual(len(lines), 3)
            self.assertIn("/login", lines[1])
            self.assertIn("all boxes share the login", lines[2])
        self.assertIn("--network inet", self.note("Not logged in", "--network", "none")[1])

    def test_every_kind_of_credentials_counts(self):
        self.assertIsNone(self.note("Not logged in", env={"ANTHROPIC_API_KEY": "sk-ant-x"}))
        self.assertIsNone(self.note("Not logged in", env={"CLAUDE_CODE_USE_BEDROCK": "1", "CLAUDEBOX_EXTRA_ENV": "CLAUDE_CODE_USE_BEDROCK"}))
        self.assertIsNotNone(self.note("Not logged in", env={"CLAUDE_CODE_USE_BEDROCK": "1"}))
        self.assertIsNone(self.note("Not logged in", "--exec", "true"))
        claude = self.home / ".claude"
        claude.mkdir()
        (claude / "settings.json").write_text('{"env": {"CLAUDE_CODE_USE_VERTEX": "1"}}')
        self.assertIsNone(self.note("Not logged in"))
        (claude / "settings.json").unlink()
        (claude / ".credentials.json").write_text(json.dumps({"claudeAiOauth": {"accessToken": "x", "expiresAt": 1}}))
        self.assertIsNone(self.note("Not logged in"))

    def test_a_login_in_a_box_counts(self):
        self.assertIsNotNone(self.note("Not logged in"))
        (self.home / STORE / ".credentials.json").write_text("{}")
        self.assertIsNone(self.note("Not logged in"))

    def test_a_link_in_the_store_is_not_followed(self):
        self.note("Not logged in")
        os.symlink("/nonexistent", self.home / STORE / ".credentials.json")
        self.assertIsNone(self.note("Not logged in"))

    def test_dry_run_has_no_notes(self):
        done = self.claudebox("--dry-run")
        self.assertNotIn("First start", done.stdout + done.stderr)
        self.assertNotIn("notes", self.plan())


if __name__ == "__main__":
    unittest.main()
