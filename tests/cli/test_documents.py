# SPDX-License-Identifier: MIT
"""Help, manual pages, completions and README name the same options: those of the table, which tests/unit/test_options.c compares with --help."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from lib.box import BoxTest

STAGE = pathlib.Path(os.environ["STAGE"])
PAGES = ("claudebox.1", "claudebox-profile.5", "claudebox-security.7")
CLAUDES = {"--dangerously-skip-permissions", "--continue", "--model", "--settings", "--help"}
BWRAPS = {"--bind-fd", "--disable-userns"}
PROGRAMS = {"--no-sandbox", "--user"}  # Chromium's and podman's
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# A command up to where it is another program's, and an option alone between the marks of code.
COMMAND = re.compile(r"\bclaudebox ((?:(?! -- |--exec)[^\n`|;&#*])*)")
ALONE = re.compile(r"[`*](--[a-z][a-z-]*)")


def read(name):
    return (STAGE / name).read_text(encoding="utf-8")


class Documents(BoxTest):
    def setUp(self):
        super().setUp()
        self.help = self.claudebox("--help").stdout
        self.rows = re.findall(r"(?m)^  (?:-(\w), |    )--([a-z-]+)(\[=json\]| [A-Z][^ ]*(?: \[.*?\])?)?  +(\S.*)$", self.help)
        self.options = {f"--{name}" for _, name, _, _ in self.rows}
        self.assertGreater(len(self.rows), 12)

    def page(self, name):
        return subprocess.run(["scdoc"], input=read(f"doc/{name}.scd"), stdout=subprocess.PIPE, text=True, check=True).stdout

    def test_the_manual_has_every_option_with_its_value_and_help(self):
        section = read("doc/claudebox.1.scd").split("\n# OPTIONS\n")[1].split("\n# ")[0]
        found = re.findall(r"(?m)^(?:\*-(\w)\*, )?\*--([a-z-]+)\*(\[=json\]| _.*_)?\n\t(.*)$", section)
        plain = [(letter, name, value.replace("_", ""), text.replace("\\", "")) for letter, name, value, text in found]
        self.assertEqual(plain, self.rows)

    def test_no_text_names_an_option_that_is_not_there(self):
        for name in ("README.md", "SECURITY.md", *(f"doc/{page}.scd" for page in PAGES)):
            text = read(name).replace("--mount-*", "--mount-ro")
            found = {option for command in COMMAND.findall(text) for option in OPTION.findall(command)} | set(ALONE.findall(text))
            self.assertTrue(found, name)
            self.assertLessEqual(found, self.options | CLAUDES | BWRAPS | PROGRAMS, name)

    def test_readme_lists_every_option_but_the_usual_ones(self):
        listed = re.findall(r"(?m)^  (?:-\w, |    )(--[a-z-]+)", read("README.md"))
        self.assertEqual(set(listed) | {"--help", "--version"}, self.options)

    def test_completions_have_every_option_and_none_else(self):
        for name, pattern in (("claudebox.bash", r"(?m)^\t(?:-\w \| )?(--[a-z-]+)\) kind="), ("_claudebox", r"(?m)^\t\t(?:-\w \w+ )?(--[a-z-]+) \w+$"),
                              ("claudebox.fish", r"(?m)^complete -c claudebox -n '__claudebox_in own'(?: -s \w)? -l ([a-z-]+)")):
            found = [word if word.startswith("--") else f"--{word}" for word in re.findall(pattern, read(f"completions/{name}"))]
            self.assertEqual(sorted(found), sorted(self.options), name)

    def test_help_and_manual_have_the_same_variables(self):
        listed = set(re.findall(r"(?m)^  (CLAUDEBOX_[A-Z_]+) ", self.help))
        section = read("doc/claudebox.1.scd").split("\n# ENVIRONMENT\n")[1].split("\n# ")[0]
        self.assertEqual(set(re.findall(r"(?m)^\*(CLAUDEBOX_[A-Z_]+)\*$", section)), listed)
        self.assertEqual(len(listed), 3)

    def test_help_and_manual_have_the_same_exit_statuses(self):
        text = self.help.split("exit status:")[1]
        section = read("doc/claudebox.1.scd").split("\n# EXIT STATUS\n")[1].split("\n# ")[0]
        listed = {number for line in re.findall(r"(?m)^\*.*\*$", section) for number in re.findall(r"\d+", line)}
        self.assertEqual(listed, set(re.findall(r"\b\d+\b", text)))

    def test_each_page_has_its_sections_and_names_the_others(self):
        for name in PAGES:
            page = self.page(name)
            title, section = name.rsplit(".", 1)
            self.assertRegex(page, rf'(?m)^\.TH "{title}" "{section}"')
            for head in ("NAME", "DESCRIPTION", "SEE ALSO"):
                self.assertIn(f".SH {head}\n", page)
            see = read(f"doc/{name}.scd").split("# SEE ALSO")[1]
            for other in set(PAGES) - {name}:
                title, section = other.rsplit(".", 1)
                self.assertIn(f"*{title}*({section})", see, name)
        page = self.page("claudebox.1")
        for head in ("SYNOPSIS", "OPTIONS", "NETWORK TIERS", "ENVIRONMENT", "FILES", "EXIT STATUS", "SIGNALS", "EXAMPLES"):
            self.assertIn(f".SH {head}\n", page)

    @unittest.skipUnless(shutil.which("man") and shutil.which("groff"), "no man")
    def test_pages_are_shown_without_a_complaint(self):
        for name in PAGES:
            path = self.home / name
            path.write_text(self.page(name), encoding="utf-8")
            done = subprocess.run(["man", "--warnings", "-l", path], env={**self.env, "MANWIDTH": "80", "MANPAGER": "cat"},
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertIn("SEE ALSO", done.stdout)


if __name__ == "__main__":
    unittest.main()
