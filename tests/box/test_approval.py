# SPDX-License-Identifier: MIT
"""What was approved is remembered for a project, outside of it, and what changed since is shown before the question."""
import os
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.terminal import Terminal


class Approval(BoxTest):
    def ask(self, *options, answer="y\n", env=None, cwd=None):
        """The audit on a terminal, answered; returns what was on the screen."""
        terminal = Terminal([CLAUDEBOX, *map(str, options), "--exec", "echo", "it-runs"], {**self.env, "NO_COLOR": "1", **(env or {})}, str(cwd or self.project), columns=200)
        self.addCleanup(terminal.close)
        if answer:
            terminal.expect(r"Start\? \[y/N\]")
            terminal.send(answer)
        terminal.wait(20)
        return terminal.output.decode()

    def test_first_and_unchanged(self):
        self.assertNotIn("Changed since", self.ask())
        self.assertNotIn("Changed since", self.ask())

    def test_what_was_added_and_taken_away_is_shown(self):
        data = self.scratch()
        self.ask()
        out = self.ask("--mount-ro", data, "--network", "none", env={"EDITOR": "vi"})
        self.assertIn("Changed since you last said yes here:", out)
        for line in (f"+ mount read-only {data}", "+ network none", "- network full", "+ env EDITOR"):
            self.assertIn(line, out)
        out = self.ask()
        for line in (f"- mount read-only {data}", "+ network full", "- env EDITOR"):
            self.assertIn(line, out)

    def test_a_no_is_not_remembered(self):
        self.ask()
        data = self.scratch()
        self.ask("--mount-ro", data, answer="n\n")
        self.assertIn(f"+ mount read-only {data}", self.ask("--mount-ro", data, answer="n\n"))

    def test_yes_without_reading_is_no_approval(self):
        self.ask()
        data = self.scratch()
        self.ask("--mount-ro", data, "--yes", answer=None)
        self.assertIn(f"+ mount read-only {data}", self.ask("--mount-ro", data, answer="n\n"))

    def test_no_value_is_kept(self):
        self.ask(env={"CLAUDEBOX_EXTRA_ENV": "MY_TOKEN", "MY_TOKEN": "CANARY-VALUE"})
        kept = [path for path in (self.home / ".claudebox").rglob("approved-*")]
        self.assertEqual(len(kept), 1)
        self.assertIn("env MY_TOKEN", kept[0].read_text())
        self.assertNotIn("CANARY", kept[0].read_text())
        self.assertEqual(kept[0].stat().st_mode & 0o777, 0o600)

    def test_the_box_cannot_reach_it(self):
        self.ask()
        self.assertEqual(self.box("find / -name 'approved-*' -not -path '/proc/*' 2>/dev/null; true"), "")

    def test_each_project_has_its_own(self):
        self.ask()
        other = self.home / "other"
        other.mkdir()
        self.assertNotIn("Changed since", self.ask(cwd=other))

    def test_what_is_planted_in_the_file_is_quoted(self):
        self.ask()
        kept, = (self.home / ".claudebox").rglob("approved-*")
        kept.write_bytes(kept.read_bytes() + b"mount \x1b[2J\r/etc\n")
        out = self.ask(answer="n\n")
        self.assertIn("\\x1b[2J", out)
        self.assertNotIn("\x1b[2J", out)

    def test_a_spoilt_file_does_no_harm(self):
        self.ask()
        kept, = (self.home / ".claudebox").rglob("approved-*")
        os.unlink(kept)
        kept.symlink_to("/etc/passwd")
        self.assertIn("it-runs", self.ask())
        self.assertFalse(kept.is_symlink())


if __name__ == "__main__":
    unittest.main()
