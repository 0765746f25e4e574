# SPDX-License-Identifier: MIT
"""Completions: bash, zsh and fish offer the options of the table, and execute no part of a file name."""
import re
import shutil
import unittest

from lib.box import BoxTest
from cli.completion import Bash, Fish, Zsh

# File names in the profile directory: the first are valid profiles, claudebox refuses the others.
GOOD = ["work", "w.1_x-y", "default"]
ODD = ["$(touch hit)", "`touch hit`", "a b", "a;touch hit", "-x", ".hidden", "new\nline", "'q'", '"d"', "é", "a$HOME", "*", "x" * 65]

# Completions for claude that a user may have installed.
BASH_CLAUDE = 'their() { COMPREPLY=(--model); [ -n "$2" ] || COMPREPLY=("$COMP_CWORD:${COMP_WORDS[*]}"); }; complete -F their claude'
ZSH_CLAUDE = '_claude() { compadd -- --model "$CURRENT:${(j: :)words}" }; compdef _claude claude'
FISH_CLAUDE = "complete -c claude -f; complete -c claude -l model; complete -c claude -a '(commandline -pc | string collect)'"


class Completion(BoxTest):
    """The tests of each shell."""
    __test__ = False

    def setUp(self):
        super().setUp()
        if not shutil.which(self.name):
            self.skipTest(f"there is no {self.name}")
        for name in ("data", "data one", "deep"):
            (self.project / name).mkdir()
        (self.project / "deep/file").touch()
        self.options = re.findall(r"(?m)^  (?:-(\w), |    )--([a-z-]+)", self.claudebox("--help").stdout)

    def shell(self, setup="", home=None):
        raise NotImplementedError

    def offers(self, line, setup="", home=None):
        return sorted({word.rstrip("/ ") for word in self.shell(setup, home).offers(line)})

    def profiles(self, home, names):
        directory = home / ".claudebox/profiles"
        directory.mkdir(parents=True)
        for name in names:
            (directory / f"{name}.json").write_text("{}")
        (directory / "notes.txt").touch()

    def test_exactly_the_options_of_the_table_are_offered(self):
        offered = {word for word in self.offers("claudebox --") if "=" not in word}
        self.assertEqual(offered, {f"--{name}" for _, name in self.options})
        self.assertGreater(len(offered), 12)

    def test_values(self):
        self.assertEqual(self.offers("claudebox --network "), ["full", "inet", "none"])
        self.assertEqual(self.offers("claudebox --yes --network i"), ["inet"])
        self.assertEqual(self.offers("claudebox --publish "), [])

    def test_values_after_an_equals_sign(self):
        for line, wanted in (("--network=", ["full", "inet", "none"]), ("--network=n", ["none"]), ("--dry-run=", ["json"]), ("--check=j", ["json"]),
                             ("--audit=", ["full"]), ("--quarantine=", ["clear", "json"])):
            offered = [word.rsplit("=", 1)[-1] for word in self.offers(f"claudebox {line}")]
            self.assertEqual(offered, wanted, line)

    def test_profiles(self):
        self.profiles(self.home, GOOD + ODD)
        self.assertEqual(self.offers("claudebox --profile "), sorted(GOOD))
        self.assertEqual(self.offers("claudebox --profile wo"), ["work"])
        self.assertFalse((self.project / "hit").exists())

    def test_profiles_of_a_home_with_an_odd_name(self):
        for name in ("with space", "$(touch hit)", "[a]*"):
            home = self.home / name
            self.profiles(home, ["work"])
            self.assertEqual(self.offers("claudebox --profile ", home=home), ["work"])
        self.assertFalse((self.project / "hit").exists())

    def test_no_profiles(self):
        self.assertEqual(self.offers("claudebox --profile "), [])
        (self.home / ".claudebox/profiles").mkdir(parents=True)
        self.assertEqual(self.offers("claudebox --profile "), [])

    def test_mounts(self):
        for option in ("--mount-ro ", "--mount-rw "):
            self.assertEqual(self.offers(f"claudebox {option}de"), ["deep"])
            self.assertEqual([word.rsplit("/", 1)[-1] for word in self.offers(f"claudebox {option}deep/")], ["file"])
            self.assertEqual([word.rsplit(":", 1)[-1] for word in self.offers(f"claudebox {option}data:de")], ["deep"])
        self.assertEqual([re.split("[=:]", word)[-1] for word in self.offers("claudebox --mount-ro=de")], ["deep"])

    def test_after_exec_a_command_and_its_files(self):
        self.assertIn("unshare", self.offers("claudebox --yes --exec unshar"))
        self.assertEqual(self.offers("claudebox --exec cat de"), ["deep"])
        self.assertEqual(self.offers("claudebox --exec true --networ"), [])

    def test_arguments_of_claude_complete_as_files(self):
        self.assertEqual(self.offers("claudebox -p de"), ["deep"])
        self.assertEqual(self.offers("claudebox -- de"), ["deep"])
        self.assertNotIn("--network", self.offers("claudebox -- --net"))

    def test_own_options_after_arguments_of_claude(self):
        self.assertEqual(self.offers("claudebox -p x --networ"), ["--network"])

    def test_options_of_claudes_own_completion(self):
        self.assertEqual(self.offers("claudebox --mod", self.claude), ["--model"])
        self.assertIn("--model", self.offers("claudebox -- --", self.claude))
        self.assertFalse({"--network", "--yes"} & set(self.offers("claudebox -- --", self.claude)))
        self.assertIn("--yes", self.offers("claudebox --", self.claude))

    def test_claude_sees_its_own_words_only(self):
        offered = self.offers("claudebox --yes --network inet -p --check=json x ", self.claude)
        self.assertTrue(any(re.search(r"claude -p x$", word) for word in offered), offered)

    def test_nothing_typed_is_executed(self):
        for line in ("--profile $(touch hit)", "--profile=`touch hit`", "--network $(touch hit)", "--mount-ro $(touch hit)", "$(touch hit)"):
            self.shell().offers(f"claudebox {line}")
            self.assertFalse((self.project / "hit").exists(), line)


class InBash(Completion):
    __test__ = True
    name = "bash"
    claude = BASH_CLAUDE

    def shell(self, setup="", home=None):
        return Bash(home or self.home, self.project, setup)

    def test_json_form_is_offered(self):
        self.assertEqual(self.offers("claudebox --dry"), ["--dry-run", "--dry-run=json"])

    def test_shell_options_of_the_user_do_not_matter(self):
        self.profiles(self.home, GOOD)
        for setup in ("shopt -s failglob", "shopt -s nullglob dotglob", "set -f", "IFS=/", "set -o posix", "set -u"):
            self.assertEqual(self.offers("claudebox --profile ", setup), sorted(GOOD), setup)
        self.assertEqual(self.offers("claudebox --network=i", "COMP_WORDBREAKS=${COMP_WORDBREAKS//[=:]}"), ["inet"])

    def test_on_a_terminal(self):
        """The command line that is finally executed, with readline's own quoting."""
        for name in ("odd:x", "$(touch hit)", "`touch hit`", "late`touch hit`", "late:`touch hit`", "late\n`touch hit`"):
            (self.project / name).mkdir()
        self.profiles(self.home, GOOD + ODD)
        for line, wanted in (("claudebox --netw", ["--network"]), ("claudebox --network=i", ["--network=inet"]),
                             ("claudebox --profile wor", ["--profile", "work"]), ("claudebox --mount-ro dee", ["--mount-ro", "deep/"]),
                             ("claudebox --mount-ro data:dee", ["--mount-ro", "data:deep/"]),
                             ("claudebox --mount-ro data\\ ", ["--mount-ro", "data one/"]),
                             ("claudebox --mount-ro od", ["--mount-ro", "odd\\:x"]),
                             ("claudebox --mount-ro late", ["--mount-ro", "late"]), ("claudebox --mount-ro data:late", ["--mount-ro", "data:late"]),
                             ("claudebox late", ["late"])):
            self.assertEqual(self.shell().typed(line), wanted, line)
        self.assertFalse((self.project / "hit").exists())


class InZsh(Completion):
    __test__ = True
    name = "zsh"
    claude = ZSH_CLAUDE

    def shell(self, setup="", home=None):
        return Zsh(home or self.home, self.project, setup, scratch=self.scratch())


class InFish(Completion):
    __test__ = True
    name = "fish"
    claude = FISH_CLAUDE

    def shell(self, setup="", home=None):
        return Fish(home or self.home, self.project, setup)


del Completion  # only those with a shell are tests


if __name__ == "__main__":
    unittest.main()
