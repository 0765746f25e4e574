# SPDX-License-Identifier: MIT
"""The command line: options of claudebox, arguments for claude, and usage errors."""
import unittest

from lib.box import GIVEN, BoxTest


class Options(BoxTest):
    def arguments(self, *words):
        done = self.claudebox(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_other_words_are_passed_to_claude_in_order(self):
        self.assertEqual(self.arguments("-p", "x", "--yes", "--model", "y"),
                         GIVEN + "<-p><x><--model><y>")

    def test_words_after_two_dashes_are_passed_to_claude(self):
        self.assertEqual(self.arguments("--yes", "--", "--yes", "--help", "--network"),
                         GIVEN + "<--yes><--help><--network>")

    def test_short_yes(self):
        self.assertEqual(self.arguments("-y", "a"), GIVEN + "<a>")

    def test_empty_and_unusual_arguments_are_passed_unchanged(self):
        self.assertEqual(self.arguments("--yes", "", "a b", "'", "\n", "é"),
                         GIVEN + "<><a b><'><\n><é>")

    def test_network_without_value_is_a_usage_error(self):
        self.assertIn("--network", self.refused("--yes", "--network", status=2))

    def test_unknown_tier_is_a_usage_error(self):
        for tier, meant in (("lan", ""), ("ine", "did you mean 'inet'? "), ("offline", "did you mean 'none'? ")):
            self.assertEqual(self.refused("--yes", "--network", tier, status=2),
                             f"claudebox: unknown network tier '{tier}'\nhint: {meant}tiers: full, inet, none\n")

    def test_a_value_can_be_in_the_same_word(self):
        self.assertIn("<a>", self.arguments("--yes", "--network", "full", "a"))
        self.assertIn("<a>", self.arguments("--yes", "--network=full", "a"))

    def test_unexpected_values(self):
        self.refused("--yes=no", status=2)
        self.refused("--dry-run=xml", status=2)

    def test_exec_uses_all_words_that_follow(self):
        done = self.claudebox("--yes", "--exec", "printf", "%s,", "--yes", "-y", "--", "--help")
        self.assertEqual(done.stdout, "--yes,-y,--,--help,")

    def test_exec_without_command(self):
        self.refused("--yes", "--exec", status=2)

    def test_exec_after_arguments_for_claude(self):
        self.refused("--yes", "-p", "x", "--exec", "true", status=2)

    def test_help_lists_every_option(self):
        done = self.claudebox("--help")
        self.assertEqual(done.returncode, 0)
        for option in ("--yes", "--dry-run", "--check", "--profile", "--network", "--shell", "--exec", "--help", "--version"):
            self.assertIn(option, done.stdout)
        self.assertTrue(all(len(line) <= 100 for line in done.stdout.splitlines()))

    def test_version(self):
        self.assertRegex(self.claudebox("--version").stdout, r"^claudebox \d+\.\d+\.\d+\n$")

    def test_without_a_terminal_yes_is_required(self):
        self.assertIn("--yes", self.refused("-p", "x"))

    def test_shell_runs_in_the_box(self):
        done = self.claudebox("--yes", "--shell", "-c", "echo $CLAUDEBOX; exit 3")
        self.assertEqual((done.stdout, done.returncode), ("1\n", 3))


if __name__ == "__main__":
    unittest.main()
