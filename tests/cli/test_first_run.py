# SPDX-License-Identifier: MIT
"""The first start: for each missing part, three lines explain what happens and what to do."""
import json
import re
import shutil
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.terminal import Terminal


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

    def test_an_open_state_directory_is_closed_after_a_question(self):
        state = self.home / ".claudebox"
        state.mkdir()
        for mode, answer, after in ((0o755, "n", 0o755), (0o755, "y", 0o700), (0o750, "y", 0o700)):
            state.chmod(mode)
            terminal = Terminal((CLAUDEBOX, "--exec", "true"), self.env, self.project)
            self.addCleanup(terminal.close)
            terminal.expect(f"mode {mode:03o}")
            terminal.expect("[y/N]")
            terminal.send(answer + "\r")
            terminal.expect("Start?" if answer == "y" else "chmod 700")
            self.assertEqual(state.stat().st_mode & 0o777, after)
        # With --yes nothing is asked. A directory that others can write is not trusted.
        state.chmod(0o755)
        self.assertIn("chmod 700", self.refused("--yes", "--exec", "true"))
        self.assertEqual(state.stat().st_mode & 0o777, 0o755)
        state.chmod(0o775)
        terminal = Terminal((CLAUDEBOX, "--exec", "true"), self.env, self.project)
        self.addCleanup(terminal.close)
        terminal.expect("mode 775")
        self.assertEqual(terminal.wait(), 125)

    def test_the_first_start_is_explained_before_the_question(self):
        terminal = Terminal((CLAUDEBOX,), self.env, self.project, columns=60)
        self.addCleanup(terminal.close)
        terminal.expect("First start:")
        terminal.expect("Not logged in:")
        terminal.expect(r"\[y/N\] ")
        terminal.send("n\n")
        self.assertEqual(terminal.wait(), 125)
        self.assertFalse((self.home / ".claudebox").exists())

    def first(self, *arguments, env=None):
        """Returns the note on a missing login at a first start."""
        shutil.rmtree(self.home / ".claudebox", ignore_errors=True)
        return self.note("Not logged in", *arguments, env=env)

    def test_no_credentials(self):
        lines = self.first()
        self.assertEqual(len(lines), 3)
        self.assertIn("/login", lines[1])
        self.assertIn("all boxes share the login", lines[2])
        self.assertIn("--network inet", self.first("--network", "none")[1])

    def test_later_starts_without_credentials_are_silent(self):
        self.first()
        other = self.home / "other"
        other.mkdir()
        for arguments in ((), ("-p", "hello")):
            for place in (self.project, other):
                done = self.claudebox("--yes", *arguments, cwd=place)
                self.assertNotRegex(done.stderr, "(?i)not logged in|not signed in|/login")

    def test_a_profile_written_before_the_first_start_does_not_silence_it(self):
        self.first()
        shutil.rmtree(self.home / ".claudebox")
        self.profile("work", network="full")
        self.assertIsNotNone(self.note("Not logged in"))
        self.assertIsNone(self.note("Not logged in"))

    def test_every_kind_of_credentials_counts(self):
        self.assertIsNotNone(self.first())
        self.assertIsNone(self.first(env={"ANTHROPIC_API_KEY": "sk-ant-x"}))
        self.assertIsNone(self.first(env={"ANTHROPIC_AUTH_TOKEN": "x"}))
        self.assertIsNone(self.first(env={"CLAUDE_CODE_OAUTH_TOKEN": "x"}))
        self.assertIsNone(self.first(env={"CLAUDE_CODE_USE_BEDROCK": "1"}))
        self.assertIsNone(self.first("--exec", "true"))
        claude = self.home / ".claude"
        claude.mkdir()
        (claude / "settings.json").write_text('{"env": {"CLAUDE_CODE_USE_VERTEX": "1"}}')
        self.assertIsNone(self.first())
        (claude / "settings.json").unlink()
        (claude / ".credentials.json").write_text(json.dumps({"claudeAiOauth": {"accessToken": "x", "expiresAt": 1}}))
        self.assertIsNone(self.first())

    def test_dry_run_has_no_notes(self):
        done = self.claudebox("--dry-run")
        self.assertNotIn("First start", done.stdout + done.stderr)
        self.assertNotIn("notes", self.plan())


if __name__ == "__main__":
    unittest.main()
