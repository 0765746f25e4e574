# SPDX-License-Identifier: MIT
"""All output for people, at every width, in every locale, on a terminal and in a pipe.

One table lists the outputs; each test checks one property of all of them. Other tests check the wording."""
import os
import re
import shutil
import subprocess
import unicodedata
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.screen import Screen
from lib.terminal import Terminal

WIDTHS = (40, 41, 60, 79, 80, 100, 120, 200)
COLOUR = re.compile(rb"\x1b\[(?:0|1|2|32|33|35|36|1;31)m")
# Project directories: characters of zero, one and two columns, with and without blanks, cursor movement, invalid UTF-8.
NAMES = ("Bücher und Träume", "日本語プロジェクト" * 6, "e\u0301" * 60, "\u1100\u1161\u11a8" * 20, "x" * 180, "a\x1b[31m\n\x85b\u202ec",
         "\udcff\udcfe" * 20)
GONE = (1, 4, 5)
REPLACED = 6  # deleted and created again
# Files that the guard moves, with lines that are longer than the screen, and of all kinds of characters.
HOSTILE_ITEMS = r"""printf '%0300d\na\033[31m\tb\n\377\n日本語 e\314\201\n' 7 >.envrc; mkdir -p .husky; echo x >".husky/$(printf 'a\nb c')"; ln -s "/nö where" .mcp.json
sleep 0.3"""
HIGH = 300  # rows of a screen on which nothing is folded


class Output:
    """A command, where and how it is started, and the answer to its question. Slow commands run at fewer widths."""

    def __init__(self, *arguments, cwd=None, env=None, answer=None, coloured=False, slow=False, rows=24):
        self.arguments = arguments
        self.cwd = cwd
        self.env = env or {}
        self.answer = answer
        self.coloured = coloured
        self.slow = slow
        self.rows = rows

    def __str__(self):
        return " ".join((*self.arguments, *self.env))


class World(BoxTest):
    """A home with projects of unusual names, and the outputs from there. Created once per class."""

    def setUp(self):
        super().setUp()
        self.fake_claude('[ "$1" = --version ] && echo "9.9.9 (Fake Code)"')
        places = [self.home / name for name in NAMES]
        for place in places:
            place.mkdir()
            self.box("true", cwd=place)
        self.box(HOSTILE_ITEMS, cwd=places[0])
        for number in GONE:
            shutil.rmtree(places[number])
        places[REPLACED].rmdir()
        places[REPLACED].mkdir()
        self.profile("odd", description="Für die Arbeit, 日本語, " + "e\u0301" * 50, network="none",
                     env={"A_NAME_THAT_IS_LONGER_THAN_ANY_OF_THE_LINES_OF_A_NARROW_TERMINAL": "é" * 300, "MY_TOKEN": "ééé" * 20})
        self.profile("wrong", description=7)
        missing = {"PATH": "/nonexistent", "CLAUDEBOX_CLAUDE": "/nöwhere/" + "x" * 90}
        self.instances = Output("--instances", coloured=True)
        self.audit = Output("--profile", "odd", "--audit=full", answer="n\n", cwd=places[0], coloured=True)
        self.short_audit = Output("--profile", "odd", answer="n\n", cwd=places[0], coloured=True, rows=HIGH)
        self.refusal = Output("--yes", cwd=self.home)
        self.outputs = (
            Output("--help"),
            Output("--version"),
            Output("--check", coloured=True, slow=True),
            Output("--check", env=missing, cwd=self.home, coloured=True),
            self.instances,
            Output("--instances", env={"HOME": str(self.project)}),
            Output("--gc", "--dry-run", coloured=True),
            Output("--gc", answer="n\n", coloured=True),
            Output("--quarantine", cwd=places[0], coloured=True),
            Output("--quarantine=1", answer="n\n", cwd=places[0], coloured=True),
            Output("--quarantine=clear", answer="n\n", cwd=places[0]),
            Output("--quarantine=7", cwd=places[0]),
            Output("--quarantine", cwd=places[REPLACED]),
            Output("--prove", "--network", "none", cwd=places[2], coloured=True, slow=True),
            Output(answer="n\n", env={"HOME": str(places[3])}, coloured=True, rows=HIGH),  # the first start
            self.audit,
            self.short_audit,
            Output(answer="a\n", cwd=places[REPLACED]),
            Output("--yes", "--exec", "nö/" + "x" * 90, coloured=True, slow=True),
            Output("--network", "日本" * 40),
            Output("--report-fd", "1"),
            self.refusal,
            Output("--yes", env=missing),
            Output("--yes", env={"PATH": "/nonexistent"}),
            Output("--yes", env={"CLAUDEBOX_CLAUDE": "", "PATH": "/usr/bin:/bin"}),
            Output("--yes", env={"CLAUDEBOX_EXTRA_ENV": "é" * 60}),
            Output("--yes", "--profile", "wrong"),
            Output("--yes", "--profile", "nowhere"),
            Output("--yes", "--mount-ro", "/nöwhere/" + "x y" * 40),
        )

    def on_terminal(self, output, columns, redirect="", locale="C.UTF-8", **env):
        """Returns all output on a terminal. `redirect` is shell syntax; a variable of None is unset."""
        whole = {**self.env, "LC_ALL": locale, **output.env, **env}
        command = ("/bin/sh", "-c", f'exec "$0" "$@" {redirect}', CLAUDEBOX, *output.arguments)
        terminal = Terminal(command, {name: value for name, value in whole.items() if value is not None}, output.cwd or self.project,
                            rows=output.rows, columns=columns)
        try:
            if output.answer:
                terminal.expect(r"\[y/N\]|\[N/k/a\]")
                terminal.send(output.answer)
            terminal.wait(20)
            return terminal.output.replace(b"\r\n", b"\n")
        finally:
            terminal.close()

    def in_pipe(self, output, locale="C.UTF-8", **env):
        """Returns stdout and stderr."""
        done = self.claudebox(*output.arguments, cwd=output.cwd, env={"LC_ALL": locale, **output.env, **env})
        return os.fsencode(done.stdout), os.fsencode(done.stderr)


class ScreensTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = World()
        cls.addClassCleanup(cls.world.doCleanups)
        cls.world.setUp()

    def for_each(self, check, slow=True):
        for output in self.world.outputs:
            if slow or not output.slow:
                with self.subTest(str(output)):
                    check(output)

    def assert_fits(self, text, columns):
        for line in COLOUR.sub(b"", text).decode().split("\n"):
            self.assertLessEqual(cells(line), columns, line)
            self.assertTrue(line == line.rstrip() or "[y/N]" in line or "cher " in line, line)  # a name with blanks, in any locale


def cells(text):
    """Returns the number of columns of a text, by the Unicode tables."""
    return sum(0 if unicodedata.category(letter) in ("Mn", "Me") or "\u1160" <= letter <= "\u11ff" else
               2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def settled(text):
    """Removes the variables that a test sets and the audit shows."""
    text = re.sub(rb"  \[>\] (?:TERM|LC_ALL|NO_COLOR)\s+\S+\n", b"", COLOUR.sub(b"", text))
    return re.sub(rb", NO_COLOR\b", b"", text)  # in the list of names of the short form


def words(text):
    """Returns the text without line breaks and with escapes replaced by the bytes they stand for."""
    text = re.sub(rb" \\\n\s*", b"", settled(text))
    text = re.sub(rb"\\x([89a-f][0-9a-f])", lambda match: bytes.fromhex(match[1].decode()), text)
    return re.sub(rb"\s", b"", text)


class Terminals(ScreensTest):
    def test_no_line_is_wider_and_no_word_is_lost(self):
        def check(output):
            said = None
            for locale, widths in (("C.UTF-8", WIDTHS), ("C", (40, 80))):
                for columns in (40, 100) if output.slow else widths:
                    text = self.world.on_terminal(output, columns, locale=locale)
                    said = said or words(text)
                    self.assertEqual(words(text), said, f"{columns} columns, {locale}")
                    self.assert_fits(text, columns)
        self.for_each(check)

    def test_a_plain_locale_gets_plain_characters(self):
        def check(output):
            self.assertTrue(self.world.on_terminal(output, 60, locale="C").isascii())
            for stream in self.world.in_pipe(output, locale="C"):
                self.assertTrue(stream.isascii(), stream)
        self.for_each(check)

    def test_the_locale_variables_have_the_usual_precedence(self):
        output = Output("--network", "é")
        for plain, env in ((True, {}), (True, {"LC_ALL": "C"}), (True, {"LC_ALL": "POSIX", "LANG": "C.UTF-8"}), (True, {"LANG": "en_US"}),
                           (True, {"LC_CTYPE": "de_DE.ISO-8859-1", "LANG": "de_DE.UTF-8"}), (False, {"LANG": "de_DE.UTF-8"}),
                           (False, {"LC_ALL": "", "LC_CTYPE": "C.utf8", "LANG": "C"}), (False, {"LC_ALL": "sr_RS.UTF-8@latin"})):
            text = self.world.on_terminal(output, 80, locale=None, **{"LANG": None, **env})
            self.assertEqual(text.isascii(), plain, env)

    def test_nothing_moves_the_cursor(self):
        def check(output):
            text = COLOUR.sub(b"", self.world.on_terminal(output, 40)).decode()
            self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]", text), text)
        self.for_each(check, slow=False)

    def test_colour_follows_the_terminal_and_NO_COLOR(self):
        def check(output):
            self.assertEqual(b"\x1b" in self.world.on_terminal(output, 80, NO_COLOR=""), output.coloured)
            self.assertNotIn(b"\x1b", self.world.on_terminal(output, 80, NO_COLOR="1"))
            for term in () if output.slow else ("dumb", "", None):
                self.assertNotIn(b"\x1b", self.world.on_terminal(output, 80, TERM=term), term)
        self.for_each(check)

    def test_a_width_that_is_unknown_or_tiny(self):
        def check(output):
            usual = self.world.on_terminal(output, 80)
            self.assertEqual(self.world.on_terminal(output, 0), usual)
            for columns in (1, 20, 39):
                self.assertEqual(words(self.world.on_terminal(output, columns)), words(usual), columns)
        self.for_each(check, slow=False)

    def test_a_terminal_agrees(self):
        """tmux, which has width tables of its own, shows each line as one row."""
        for output in (self.world.instances, self.world.audit, self.world.short_audit):
            lines = settled(self.world.on_terminal(output, 40)).split(b"[y/N]")[0].rstrip().splitlines()
            with Screen() as screen:
                screen.start(["/bin/sh", "-c", '"$0" "$@"; exec sleep 60', CLAUDEBOX, *output.arguments],
                             {**self.world.env, "LC_ALL": "C.UTF-8"}, 40, 200, str(output.cwd or self.world.project))
                screen.wait_for(r"\[y/N\]" if output.answer else r"^\d+ instances, ")
                self.assertEqual(settled(screen.text().encode()).split(b"[y/N]")[0].rstrip().splitlines(), lines)


class Pipes(ScreensTest):
    def test_a_pipe_gets_the_same_everywhere(self):
        def check(output):
            plain = [settled(stream) for stream in self.world.in_pipe(output)]
            for env in ({"COLUMNS": "40", "LINES": "2"}, {"COLUMNS": "200"}, {"TERM": "dumb"}, {"NO_COLOR": "1"})[:1 if output.slow else None]:
                streams = self.world.in_pipe(output, **env)
                self.assertNotIn(b"\x1b", b"".join(streams))
                self.assertEqual([settled(stream) for stream in streams], plain, env)
        self.for_each(check)

    def test_each_stream_is_judged_by_itself(self):
        """One stream is a pipe while the other one is a terminal."""
        def check(output):
            kept = self.world.scratch() / "kept"
            stderr = self.world.in_pipe(output)[1]
            first = None
            for columns in (40, 200):
                shown = self.world.on_terminal(output, columns, f">{kept}")
                self.assert_fits(shown, columns)
                if output.answer:  # where there is a question, stderr has it all
                    self.assertEqual(b"\x1b" in shown, output.coloured)
                    continue
                self.assertEqual(words(shown), words(stderr))
                stdout = kept.read_bytes()
                first = stdout if first is None else first
                self.assertEqual(stdout, first)
                self.assertNotIn(b"\x1b", stdout)
                if not output.slow:
                    shown = self.world.on_terminal(output, columns, f"2>{kept}")
                    self.assert_fits(shown, columns)
                    self.assertEqual(kept.read_bytes(), stderr)
                    self.assertEqual(bool(shown), bool(stdout))
        self.for_each(check)

    def test_an_error_is_a_line_each(self):
        """Error, note and hint are one line each in a pipe, whatever their length."""
        def check(output):
            stderr = self.world.in_pipe(output)[1].decode()
            if "hint: " in stderr:
                self.assertRegex(stderr, r"(?m)^claudebox: .*\n(note: .*\n)?hint: .*\n(  .*\n)*\Z")
        self.for_each(check, slow=False)

    def test_output_that_cannot_be_written_is_an_error(self):
        for arguments in (("--help",), ("--version",), ("--check",), ("--instances",), ("--gc", "--dry-run"), ("--quarantine",), ("--dry-run",), ("--dry-run=json",)):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                done = subprocess.run([CLAUDEBOX, *arguments], cwd=self.world.project, env=self.world.env, stdin=subprocess.DEVNULL, stdout=full,
                                      stderr=subprocess.PIPE, text=True, check=False, timeout=30)
                self.assertEqual(done.returncode, 125)
                self.assertRegex(done.stderr, r"\Aclaudebox: cannot write the result: .*\nhint: .*\n\Z")

    def test_a_command_can_be_copied_at_any_width(self):
        """The text between two backquotes, with line ends and blanks as a mouse selects it, is the command."""
        def paste(output, columns, home):
            text = self.world.on_terminal(output, columns).decode()
            done = subprocess.run(["sh", "-c", "claudebox() { pwd; }\n" + re.search(r"(?s)`(.*?)`", text)[1]], cwd="/", check=False,
                                  env={"HOME": str(home), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
            self.assertEqual(done.stderr, "", text)
            return done.stdout
        for columns in range(40, 100, 6):
            home = self.world.scratch()
            self.assertEqual(paste(self.world.refusal, columns, home), f"{home}/project\n")
            if columns < 70:
                continue  # the path would be broken
            state = home / "it's a home" / ".claudebox"
            state.mkdir(parents=True)
            state.chmod(0o755)
            paste(Output("--yes", env={"HOME": str(state.parent)}), columns, home)
            self.assertEqual(state.stat().st_mode & 0o777, 0o700)


if __name__ == "__main__":
    unittest.main()
