# SPDX-License-Identifier: MIT
"""The documents agree with the program: options, tests, files, functions, and links.

Help, man pages and completions name the options of the table, which tests/unit/test_options.c compares with --help."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from lib.box import BoxTest

STAGE = pathlib.Path(os.environ["STAGE"])
PAGES = ("claudebox.1", "claudebox-profile.5", "claudebox-security.7")
BWRAPS = {"--bind-fd", "--disable-userns", "--cap-drop"}
PROGRAMS = {"--security-opt", "--no-sandbox", "--user"}  # of Chromium and podman
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# A command without the part that another program gets, and a single option between backquotes.
COMMAND = re.compile(r"\bclaudebox ((?:(?! -- |--exec)[^\n`|;&#*])*)")
ALONE = re.compile(r"[`*](--[a-z][a-z-]*)")

# A test in a document: `box/test_git.py`, or `box/test_git.py:test_subdirectory`.
TEST = re.compile(r"`((?:unit|cli|box|claude|programs)/test_\w+\.(?:py|c))(?::(test_\w+))?`")
NAMED_TESTS = ("SECURITY.md", "doc/requirements.md")
CODE = ("ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")  # and doc/design
SOURCE_FILE = re.compile(r"`((?:src|tests|tools|doc|packaging)/[\w./-]+)`")
FUNCTION = re.compile(r"`(\w+)\(\)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([\w-]+))?\)")


def read(name):
    return (STAGE / name).read_text(encoding="utf-8")


class Documents(BoxTest):
    def setUp(self):
        super().setUp()
        self.help = self.claudebox("--help").stdout
        self.rows = re.findall(r"(?m)^  (?:-(\w), |    )--([a-z-]+)(\[=(?:json|stat|commits|full|WORD)\]| [A-Z][^ ]*(?: \[.*?\])?)?  +(\S.*)$", self.help)
        self.options = {f"--{name}" for _, name, _, _ in self.rows}
        self.assertGreater(len(self.rows), 12)

    def page(self, name):
        return subprocess.run(["scdoc"], input=read(f"doc/{name}.scd"), stdout=subprocess.PIPE, text=True, check=True).stdout

    def test_the_manual_has_every_option_with_its_value_and_help(self):
        section = read("doc/claudebox.1.scd").split("\n# OPTIONS\n")[1].split("\n# ")[0]
        found = re.findall(r"(?m)^(?:\*-(\w)\*, )?\*--([a-z-]+)\*(\[=(?:json|stat|commits|full|_WORD_)\]| _.*_)?\n\t(.*)$", section)
        plain = [(letter, name, value.replace("_", ""), text.replace("\\", "")) for letter, name, value, text in found]
        self.assertEqual(plain, self.rows)

    def test_no_document_names_an_unknown_option(self):
        claudes = {f"--{name}" for name in re.findall(r'(?m)^\t\{ "([a-z-]+)", ', read("src/config/claude/options.c"))}
        self.assertGreater(len(claudes), 100)
        for name in ("README.md", "SECURITY.md", "doc/faq.md", *(f"doc/{page}.scd" for page in PAGES)):
            text = read(name).replace("--mount-*", "--mount-ro")
            found = {option for command in COMMAND.findall(text) for option in OPTION.findall(command)} | set(ALONE.findall(text))
            self.assertTrue(found, name)
            self.assertLessEqual(found, self.options | claudes | BWRAPS | PROGRAMS, name)

    def test_every_named_test_exists(self):
        for document in NAMED_TESTS:
            found = TEST.findall(read(document))
            self.assertGreater(len(found), 50, document)
            for file, name in found:
                with self.subTest(document=document, file=file, name=name):
                    self.assertTrue((STAGE / "tests" / file).is_file())
                    if name:
                        self.assertTrue(re.search(rf"(?m)^ +def {name}\(", read(f"tests/{file}")))

    def test_every_requirement_and_claim_names_a_test(self):
        for document in NAMED_TESTS:
            rows = re.findall(r"(?m)^\| (?!id |claim |---)(.*) \|$", re.sub(r"(?s)## (?:Threat model|Prove it|Not claimed).*?(?=\n## )", "", read(document)))
            self.assertGreater(len(rows), 40)
            for row in rows:
                self.assertRegex(row, TEST, document)

    def test_requirement_ids_are_unique(self):
        ids = re.findall(r"(?m)^\| ([A-Z]+(?:-\d+)?) \|", read("doc/requirements.md"))
        self.assertGreater(len(ids), 45)
        self.assertEqual(len(ids), len(set(ids)))

    def test_every_named_file_and_function_exists(self):
        source = "\n".join(path.read_text(encoding="utf-8") for path in (STAGE / "src").rglob("*.[ch]"))
        documents = [*CODE, *(str(path.relative_to(STAGE)) for path in sorted((STAGE / "doc/design").glob("*.md")))]
        self.assertGreater(len(documents), 15)
        for document in documents:
            text = read(document)
            for file in SOURCE_FILE.findall(text):
                with self.subTest(document=document, file=file):
                    self.assertTrue((STAGE / file).exists())
            for function in FUNCTION.findall(text):
                with self.subTest(document=document, function=function):
                    self.assertTrue(re.search(rf"(?m)^[a-z_].*\b{function}\(", source))

    def test_every_link_leads_to_a_file_and_heading(self):
        for path in (*STAGE.glob("*.md"), *(STAGE / "doc").rglob("*.md")):
            for target, heading in LINK.findall(re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)):
                with self.subTest(document=path.name, target=target, heading=heading):
                    file = path.parent / target if target else path
                    self.assertTrue(file.exists())
                    if heading:
                        heads = re.findall(r"(?m)^#+ (.*)$", file.read_text(encoding="utf-8"))
                        self.assertIn(heading, [re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads])

    def test_each_heading_is_there_once(self):
        for document in ("README.md", *CODE, "doc/faq.md", "doc/requirements.md"):
            heads = re.findall(r"(?m)^#+ .*$", re.sub(r"```.*?```", "", read(document), flags=re.S))
            self.assertEqual(len(heads), len(set(heads)), document)

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

    @unittest.skipUnless(shutil.which("man") and shutil.which("groff"), "man or groff is missing")
    def test_pages_are_shown_without_a_warning(self):
        for name in PAGES:
            path = self.home / name
            path.write_text(self.page(name), encoding="utf-8")
            done = subprocess.run(["man", "--warnings", "-l", path], env={**self.env, "MANWIDTH": "80", "MANPAGER": "cat"},
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertIn("SEE ALSO", done.stdout)


if __name__ == "__main__":
    unittest.main()
