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

    def test_short_help_and_version_ask_nothing(self):
        self.assertEqual(self.claudebox("-h").stdout, self.claudebox("--help").stdout)
        self.assertEqual(self.claudebox("-v").stdout, self.claudebox("--version").stdout)
        self.assertEqual(self.claudebox("-h").stderr + self.claudebox("-v").stderr, "")
        self.assertFalse((self.home / ".claudebox").exists())
        self.assertEqual(self.arguments("--yes", "--", "-h", "-v"), GIVEN + "<-h><-v>")

    def test_two_dashes_after_words_for_claude_are_passed_on(self):
        self.assertEqual(self.arguments("--yes", "-p", "--", "--yes"), GIVEN + "<-p><--><--yes>")

    def test_all_words_after_a_subcommand_are_passed_to_claude(self):
        self.assertEqual(self.arguments("--yes", "mcp", "add", "x", "--network", "none", "--", "cmd", "--yes", "--dryrun", "-h"),
                         GIVEN + "<mcp><add><x><--network><none><--><cmd><--yes><--dryrun><-h>")

    def test_nothing_is_put_before_a_subcommand_that_must_be_first(self):
        self.assertEqual(self.arguments("--yes", "remote-control", "--name", "x"), "<remote-control><--name><x>")

    def test_a_misspelled_option_is_a_usage_error(self):
        for word, meant in (("--netwrok", "--network"), ("--dryrun", "--dry-run"), ("--mount_ro", "--mount-ro"), ("--netowrk=inet", "--network"),
                            ("--Yes", "--yes"), ("--prfile", "--profile")):
            self.assertEqual(self.refused("--yes", word, "x", status=2),
                             f"claudebox: unknown option '{word}'\nhint: did you mean '{meant}'? To pass the word to claude: claudebox -- {word}\n")
            self.assertEqual(self.arguments("--yes", "--", word, "x"), GIVEN + f"<{word}><x>")

    def test_options_of_claude_are_not_misspelled(self):
        """Also hidden ones, and words that are values of options of claude."""
        for words in (("--max-turns", "3"), ("--model", "--netwrok"), ("--append-system-prompt", "--dryrun"), ("--zork", "x")):
            self.assertEqual(self.arguments("--yes", *words), GIVEN + "".join(f"<{word}>" for word in words))

    def test_words_that_cannot_work_in_a_box_are_answered(self):
        for words in (("--bg", "x"), ("-p", "--background"), ("update",), ("upgrade",), ("install", "stable"), ("migrate-installer",),
                      ("--", "update"), ("attach", "x"), ("logs", "x"), ("daemon", "status")):
            message = self.refused("--yes", *words, status=2)
            self.assertEqual(len(message.splitlines()), 2, message)
            self.assertIn("is not passed to claude", message)
        self.assertEqual(self.arguments("--yes", "update the parser"), GIVEN + "<update the parser>")
        self.assertEqual(self.arguments("--yes", "-p", "update"), GIVEN + "<-p><update>")

    def test_version(self):
        self.assertRegex(self.claudebox("--version").stdout, r"^claudebox \d+\.\d+\.\d+\n$")

    def test_the_version_and_the_help_of_claude_ask_nothing(self):
        for word in ("--version", "-v", "--help", "-h"):
            done = self.claudebox("--", word)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, GIVEN + f"<{word}>\n", ""))
        # With any other word, claude may do more than print.
        for words in (("--", "--version", "x"), ("--", "-p", "--help"), ("--", "version"), ("--", "-hv"), ("--shell", "--", "--version"), ("--exec", "true", "--version")):
            self.assertIn("cannot ask for confirmation", self.refused(*words), words)

    def test_an_option_behind_exec_is_named_if_nothing_can_be_asked(self):
        for words, found in ((("true", "--yes"), "--yes"), (("npm", "x", "--network=none"), "--network=none")):
            self.assertTrue(self.refused("--exec", *words).endswith(
                f"hint: '{found}' is an argument of the command: options of claudebox go before --exec\n"), words)
        self.assertNotIn("before --exec", self.refused("--exec", "git", "--version"))

    def test_without_a_terminal_yes_is_required(self):
        self.assertIn("--yes", self.refused("-p", "x"))

    def test_shell_runs_in_the_box(self):
        done = self.claudebox("--yes", "--shell", "-c", "echo $CLAUDEBOX; exit 3")
        self.assertEqual((done.stdout, done.returncode), ("1\n", 3))


if __name__ == "__main__":
    unittest.main()
