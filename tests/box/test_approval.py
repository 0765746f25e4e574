# SPDX-License-Identifier: MIT
"""The approval of a box is stored for each project, outside of it, and later changes are shown before the question."""
import os
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.terminal import Terminal


class Approval(BoxTest):
    def ask(self, *options, answer="y\n", env=None, cwd=None):
        """Starts on a terminal and answers the question; returns the output."""
        terminal = Terminal([CLAUDEBOX, *map(str, options), "--exec", "echo", "it-runs"], {**self.env, "NO_COLOR": "1", **(env or {})}, str(cwd or self.project), columns=200)
        self.addCleanup(terminal.close)
        if answer:
            terminal.expect(r"Start\? \[y/N\]")
            terminal.send(answer)
        terminal.wait(20)
        return terminal.output.decode()

    def test_first_and_unchanged(self):
        self.assertNotIn("Changed", self.ask())
        self.assertNotIn("Changed", self.ask())

    def test_additions_and_removals_are_shown(self):
        data = self.scratch()
        self.ask()
        out = self.ask("--mount-ro", data, "--network", "none", env={"EDITOR": "vi"})
        self.assertIn("Changed: ", out)
        for line in (f"+ mount read-only {data}", "+ network none", "- network full", "+ env EDITOR"):
            self.assertIn(line, out)
        out = self.ask()
        for line in (f"- mount read-only {data}", "+ network full", "- env EDITOR"):
            self.assertIn(line, out)

    def test_settings(self):
        self.ask()
        self.profile(terminal="direct")
        self.assertIn("+ terminal direct", self.ask())
        self.profile()
        self.assertIn("- terminal direct", self.ask())

    def test_no_is_not_an_approval(self):
        self.ask()
        data = self.scratch()
        self.ask("--mount-ro", data, answer="n\n")
        self.assertIn(f"+ mount read-only {data}", self.ask("--mount-ro", data, answer="n\n"))

    def test_the_option_yes_is_not_an_approval(self):
        self.ask()
        data = self.scratch()
        self.ask("--mount-ro", data, "--yes", answer=None)
        self.assertIn(f"+ mount read-only {data}", self.ask("--mount-ro", data, answer="n\n"))

    def test_no_value_is_stored(self):
        self.ask(env={"CLAUDEBOX_EXTRA_ENV": "MY_TOKEN", "MY_TOKEN": "CANARY-VALUE"})
        kept = [path for path in (self.home / ".claudebox").rglob("approved-*")]
        self.assertEqual(len(kept), 1)
        self.assertIn("env MY_TOKEN", kept[0].read_text())
        self.assertNotIn("CANARY", kept[0].read_text())
        self.assertEqual(kept[0].stat().st_mode & 0o777, 0o600)

    def test_the_box_cannot_reach_the_approval(self):
        self.ask()
        self.assertEqual(self.box("find / -name 'approved-*' -not -path '/proc/*' 2>/dev/null; true"), "")

    def test_each_project_has_its_own_approval(self):
        self.ask()
        other = self.home / "other"
        other.mkdir()
        self.assertNotIn("Changed", self.ask(cwd=other))

    def test_lines_of_the_file_are_quoted(self):
        self.ask()
        kept, = (self.home / ".claudebox").rglob("approved-*")
        kept.write_bytes(kept.read_bytes() + b"mount \x1b[2J\r/etc\n")
        out = self.ask(answer="n\n")
        self.assertIn("\\x1b[2J", out)
        self.assertNotIn("\x1b[2J", out)

    def test_a_link_in_place_of_the_file_is_replaced(self):
        self.ask()
        kept, = (self.home / ".claudebox").rglob("approved-*")
        os.unlink(kept)
        kept.symlink_to("/etc/passwd")
        self.assertIn("\nit-runs", self.ask())
        self.assertFalse(kept.is_symlink())


if __name__ == "__main__":
    unittest.main()
