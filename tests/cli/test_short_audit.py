# SPDX-License-Identifier: MIT
"""Where there is a question, the audit fits one screen; without one, it is changes and warnings; --quiet shows errors only."""
import json
import os
import re
import signal
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.screen import Screen
from lib.terminal import Terminal
from lib.toolchains import program

QUESTION = r"Start\? \[y/N\] \(d: show everything\) "
MANAGERS = (".cargo/bin", ".bun/bin", ".deno/bin", "go/bin", ".pyenv/shims", ".rbenv/shims", ".nvm/versions/node/v22.9.0/bin", ".volta/bin")
OWN = ("bin", "scripts", "tools/bin", "work/bin", "perl5/bin", "old/bin", "deploy/bin", "lint/bin", "misc/bin", "more/bin")


class ShortTest(BoxTest):
    def open(self, *arguments, env=None, rows=24, columns=80, command=("--exec", "echo", "it-runs")):
        terminal = Terminal((CLAUDEBOX, *map(str, arguments), *command), {**self.env, "NO_COLOR": "1", **(env or {})}, self.project,
                            rows=rows, columns=columns)
        self.addCleanup(terminal.close)
        return terminal

    def shown(self, *arguments, **options):
        """Returns the lines before the question, and answers no."""
        terminal = self.open(*arguments, **options)
        terminal.expect(r"Start\? ")
        text = terminal.output.decode().replace("\r\n", "\n")
        terminal.send("n\n")
        self.assertEqual(terminal.wait(), 125)
        return text.split("Start? ")[0].splitlines()

    def rich(self):
        """A home with eight toolchain managers and ten other directories of programs. Returns options and variables."""
        for place in (*MANAGERS, *OWN):
            program(self.home / place / f"tool-{place.replace('/', '-')}", "true")
            self.env["PATH"] = f"{self.home / place}:{self.env['PATH']}"
        self.env["NVM_DIR"] = str(self.home / ".nvm")
        names = [f"PASSED_{number}" for number in range(6)] + ["MY_TOKEN", "OTHER_KEY"]
        options = []
        for number in range(6):
            (self.home / f"data-{number}").mkdir()
            options += ["--mount-rw" if number == 5 else "--mount-ro", self.home / f"data-{number}"]
        for name in (".env", "id_rsa", "a.pem"):
            (self.project / name).write_text("x")
        (self.home / ".claude").mkdir()
        (self.home / ".claude/settings.json").write_text(json.dumps({"apiKeyHelper": "x", "env": {"A_TOKEN": "x", "B_KEY": "y"}}))
        return options, {name: "value" for name in names} | {"CLAUDEBOX_EXTRA_ENV": ",".join(names)}


class OneScreen(ShortTest):
    def test_a_rich_box_fits_and_nothing_scrolls_off(self):
        options, env = self.rich()
        plan = self.plan(*options, env=env)
        self.assertGreaterEqual(len({row["name"] for row in plan["toolchains"]}), 7)
        self.assertGreaterEqual(len(plan["left_out"]), 10)
        self.assertGreaterEqual(len(plan["warnings"]), 5)
        self.assertEqual(self.claudebox(*options, "--yes", "--exec", "true", env=env).returncode, 0)
        with Screen() as screen:
            screen.start([CLAUDEBOX, *map(str, options)], {**self.env, **env}, 80, 24, str(self.project))
            screen.wait_for(r"Start\? \[y/N\]")
            lines = screen.text().rstrip("\n").split("\n")
        first = next(number for number, line in enumerate(lines) if line.startswith("claudebox: "))
        last = next(number for number, line in enumerate(lines) if line.startswith("Start? [y/N]"))
        self.assertLessEqual(last - first + 1, 20, "\n".join(lines))
        text = " ".join("\n".join(lines).split())
        for name in ("~/project", "full:", "data-5", "MY_TOKEN", "OTHER_KEY", "PASSED_0", "data-0", "cargo", "bun", "Warnings:", "Not in the box:"):
            self.assertIn(name, text)
        self.assertRegex(text, r"\(and \d+ more: d\)")

    def test_each_variable_and_mount_that_was_asked_for_is_named(self):
        (self.home / "data").mkdir()
        names = [f"V_{number}" for number in range(8)]
        text = " ".join(self.shown("--mount-ro", "~/data", env={name: "x" for name in names} | {"CLAUDEBOX_EXTRA_ENV": ",".join(names), "EDITOR": "vi"}))
        for variable in self.plan("--exec", "true", env={"EDITOR": "vi", "NO_COLOR": "1"})["environment"]:
            if variable["origin"] != "generated":
                self.assertRegex(text, rf"\b{variable['name']}\b")
        for name in (*names, "~/data"):
            self.assertIn(name, text)

    def test_a_red_line_is_never_folded(self):
        (self.home / ".aws").mkdir()
        self.profile(terminal="direct", home="shared")
        options, env = self.rich()
        for rows, columns in ((24, 80), (10, 80), (24, 40)):
            text = " ".join(" ".join(self.shown("--mount-ro", "~/.aws", *options, env=env, rows=rows, columns=columns)).split())
            self.assertIn("~/.aws SECRET: AWS credentials", text)
            self.assertIn("the agent can read what you type into your shell and write any escape sequence", text)
            self.assertIn("can read its files and plant programs that run in this box", text)

    def test_a_higher_screen_shows_more(self):
        options, env = self.rich()
        counts = [len(self.shown(*options, env=env, rows=rows)) for rows in (24, 34, 200)]
        self.assertEqual(sorted(set(counts)), counts)
        self.assertNotIn(" more: d)", "\n".join(self.shown(*options, env=env, rows=200)))

    def test_what_is_the_same_in_every_box_is_one_line(self):
        lines = self.shown()
        self.assertRegex("\n".join(lines), r"(?m)^In every box: +\[~\] \d+ variables, \d+ mounts ")
        self.assertNotIn("CLAUDE_CONFIG_DIR", "\n".join(lines))

    def test_claude_files_with_a_secret_among_them_are_named(self):
        commands = self.home / ".claude" / "commands"
        commands.mkdir(parents=True)
        (commands / "a.md").write_text("harmless\n")
        self.assertIn("  [~] your own Claude files", "\n".join(self.shown()).replace("Mounts:", "").replace("    ", "  "))
        (commands / "b.md").write_text("gh" + "p_" + "canary0Ab1" * 4 + "\n")
        mounts = [line for line in self.shown() if "your own Claude files" in line]
        self.assertEqual(len(mounts), 1, mounts)
        self.assertRegex(mounts[0], r"^ *Mounts: +\[~\] your own Claude files$")

    def test_a_secret_argument_is_hidden(self):
        token = "ghp_" + "0123456789abcdefghijklmnopqrstuvwxyz"
        text = "\n".join(self.shown(command=("--append-system-prompt", token)))
        self.assertNotIn(token, text)
        self.assertIn("starts claude --append-system-prompt ********", " ".join(text.split()))

    def test_names_forge_no_line(self):
        forged = []
        for lead in range(40, 66, 2):
            path = self.home / "f" / ("x" * lead + "  [~] FAKE  ! FAKE\n  ! FAKE \x1b[31m")
            path.mkdir(parents=True)
            self.project = path
            for columns in (40, 80):
                text = "\n".join(self.shown(columns=columns))
                if re.search(r"(?m)^\s*(\[[~>+]\]|!)\s+FAKE", text) or "\x1b" in text:
                    forged.append((lead, columns))
        self.assertEqual(forged, [])


class Answers(ShortTest):
    def test_details_and_then_yes(self):
        terminal = self.open()
        terminal.expect(QUESTION)
        self.assertNotIn(b"CLAUDE_CONFIG_DIR", terminal.output)
        terminal.send("d\n")
        terminal.expect(r"Environment:")
        terminal.expect(r"CLAUDE_CONFIG_DIR")
        terminal.expect(r"Start\? \[y/N\] ")
        self.assertNotIn(b"\nit-runs", terminal.output)
        terminal.send("y\n")
        terminal.expect("^it-runs")
        self.assertEqual(terminal.wait(), 0)

    def test_anything_else_starts_nothing(self):
        for answer in ("n\n", "\n", "yes please\n", "dy\n", "\x04"):
            terminal = self.open()
            terminal.expect(QUESTION)
            terminal.send(answer)
            self.assertEqual(terminal.wait(), 125, repr(answer))
            self.assertNotIn(b"\nit-runs", terminal.output)
            self.assertIn(b"not started", terminal.output)

    def test_no_after_details(self):
        terminal = self.open()
        terminal.expect(QUESTION)
        terminal.send("D\n")
        terminal.expect(r"Start\? \[y/N\] ")
        terminal.send("\x04")
        self.assertEqual(terminal.wait(), 125)
        self.assertFalse((self.home / ".claudebox").exists())

    def test_ctrl_c_ends_the_question(self):
        terminal = self.open()
        terminal.expect(QUESTION)
        terminal.send("\x03")
        self.assertEqual(terminal.wait(), -signal.SIGINT)
        self.assertFalse((self.home / ".claudebox").exists())

    def test_the_full_list_at_once(self):
        for option in ("--audit=full", "--audit"):
            terminal = self.open(option)
            terminal.expect("Environment:")
            terminal.expect(r"Start\? \[y/N\] ")
            self.assertNotIn(b"show everything", terminal.output)
            terminal.send("n\n")
            self.assertEqual(terminal.wait(), 125)
        self.assertIn("accepts no value except 'full'", self.refused("--audit=short", status=2))


class WithoutAQuestion(ShortTest):
    def test_only_changes_and_warnings(self):
        self.profile(network="none")
        self.assertEqual(self.claudebox("--yes", "--exec", "true").stderr, "")
        self.assertRegex(self.claudebox("--yes", "-p", "x").stderr, r"\AWarnings:\n  ! Claude cannot reach its API in the tier none [^\n]*\n\n\Z")
        (self.project / ".env").write_text("x")
        self.assertRegex(self.claudebox("--yes", "--exec", "true").stderr, r"\AWarnings:\n  ! [^\n]* \.env\n\n\Z")
        (self.project / ".env").unlink()
        terminal = self.open()
        terminal.expect(QUESTION)
        terminal.send("y\n")
        self.assertEqual(terminal.wait(), 0)
        said = self.claudebox("--yes", "--exec", "true", env={"EDITOR": "vi"}).stderr
        self.assertRegex(said, r"\AChanged since your last approval:\n")
        self.assertIn("  + env EDITOR\n", said)

    def test_an_unchanged_box_shows_nothing(self):
        self.profile(network="none", confirm="changed")
        terminal = self.open()
        terminal.expect(QUESTION)
        terminal.send("y\n")
        self.assertEqual(terminal.wait(), 0)
        terminal = self.open()
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(terminal.output, b"it-runs\r\n")

    def test_the_terminal_that_is_given_away_is_shown(self):
        self.profile(network="none", terminal="direct")
        self.assertIn("direct: the box has your own terminal", self.claudebox("--yes", "--exec", "true").stderr)

    def test_the_full_list_with_yes(self):
        self.assertIn("CLAUDE_CONFIG_DIR", self.claudebox("--yes", "--audit=full", "--exec", "true").stderr)

    def test_quiet_shows_errors_only(self):
        (self.project / ".env").write_text("x")
        self.profile(terminal="direct")
        self.assertEqual(self.claudebox("--yes", "--quiet", "--exec", "true").stderr, "")
        self.assertRegex(self.refused("--yes", "--quiet", "--mount-ro", "/nowhere", "--exec", "true"), r"\Aclaudebox: [^\n]*\nhint: ")
        self.assertRegex(self.refused("--quiet", "--exec", "true"), r"\Aclaudebox: cannot ask [^\n]*\nhint: claudebox --dry-run shows the box")

    def test_quiet_does_not_hide_what_a_question_is_about(self):
        self.assertRegex("\n".join(self.shown("--quiet")), r"\Aclaudebox: +~/project")

    def test_no_terminal_gets_the_full_list_and_an_error(self):
        said = self.refused("--exec", "true")
        self.assertIn("CLAUDE_CONFIG_DIR", said)
        self.assertIn("the list above is the box", said)


class NotInTheBox(ShortTest):
    def setUp(self):
        super().setUp()
        program(self.home / "tools" / "mine", "true")
        self.env["PATH"] = f"{self.home}/tools:{self.env['PATH']}"
        self.line = "~/tools (1 program: mine): --path ~/tools"

    def test_before_the_question_in_full_and_in_json(self):
        self.assertIn(self.line, " ".join(" ".join(self.shown()).split()))
        self.assertIn(f"Not in the box:\n  {self.line}\n", self.claudebox("--yes", "--audit=full", "--exec", "true").stderr)
        row = {"what": "~/tools", "why": "1 program: mine", "option": "--path ~/tools"}
        self.assertIn(row, self.plan()["left_out"])
        self.assertIn(row, json.loads(self.claudebox("--check=json").stdout)["left_out"])

    def test_in_check(self):
        self.assertIn(f"outside  left_out   {self.line}\n", self.claudebox("--check").stdout)
        terminal = Terminal((CLAUDEBOX, "--check"), {**self.env, "NO_COLOR": "1"}, self.project)
        self.addCleanup(terminal.close)
        terminal.wait(30)
        self.assertIn(f"\nNot in the box\n  {self.line}\n", terminal.output.decode().replace("\r\n", "\n"))

    def test_the_option_brings_it(self):
        self.assertNotIn("~/tools", "\n".join(line for line in self.shown("--path", "~/tools") if line.startswith("Not in the box")))
        self.assertNotIn("left_out   ~/tools", self.claudebox("--check", "--path", "~/tools").stdout)

    def test_no_plan_is_said(self):
        done = self.claudebox("--check=json", cwd=self.home)
        self.assertIsNone(json.loads(done.stdout)["left_out"])
        self.assertRegex(self.claudebox("--check", cwd=self.home).stdout, r"(?m)^outside  left_out   not known, because no box starts here: ")

    def test_nothing_is_said_where_nothing_is_missing(self):
        self.env["PATH"] = os.environ["PATH"]
        if not self.plan()["left_out"]:
            self.assertNotIn("left_out", self.claudebox("--check").stdout)
            self.assertNotIn("Not in the box", "\n".join(self.shown()))


if __name__ == "__main__":
    unittest.main()
