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

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIBIDCBx6ADAgECAhRcanary\n-----END CERTIFICATE-----\n"
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
        self.assertIn("  [>] your own Claude files (commands)", "\n".join(self.shown()).replace("Mounts:", "").replace("    ", "  "))
        (commands / "b.md").write_text("gh" + "p_" + "canary0Ab1" * 4 + "\n")
        mounts = [line for line in self.shown() if "your own Claude files" in line]
        self.assertEqual(len(mounts), 1, mounts)
        self.assertRegex(mounts[0], r"^ *Mounts: +\[>\] your own Claude files \(commands\)$")

    def test_own_files_of_the_host_are_named_with_its_mark(self):
        (self.home / "certs").mkdir()
        (self.home / "certs/corp.pem").write_text(CERTIFICATE)
        (self.home / ".claude").mkdir()
        (self.home / ".claude/CLAUDE.md").write_text("Be brief.\n")
        (self.home / "ignore").write_text("*.o\n")
        self.git("config", "--global", "core.excludesFile", str(self.home / "ignore"))
        self.git("config", "--global", "pull.rebase", "true")
        self.env["NODE_EXTRA_CA_CERTS"] = str(self.home / "certs/corp.pem")
        text = " ".join(" ".join(self.shown(rows=30)).split())
        self.assertIn("Mounts: [>] your own Claude files (CLAUDE.md), ", text)
        for name in ("~/certs/corp.pem (certificates that NODE_EXTRA_CA_CERTS names)", "copy of ~/ignore"):
            self.assertIn(name, text[text.index("Mounts:"):text.index("Settings:")])
        self.assertRegex(text, r"Settings: \[>\] your settings of git(, npm, pip)?, without credentials")
        self.assertIn("([~] made by claudebox, [>] from the host, [+] requested)", text)
        full = self.claudebox("--yes", "--audit=full", "--exec", "true").stderr
        for name in ("~/certs/corp.pem", "/run/claudebox/claude/CLAUDE.md <- ~/.claude/CLAUDE.md", "\\S+ <- copy of ~/ignore", "/etc/gitconfig"):
            self.assertRegex(full, rf"(?m)^  \[>\] (read-only|generated) +{name} ")

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


class Order(ShortTest):
    def test_red_then_what_enters_then_what_stays_out(self):
        options, env = self.rich()
        self.profile(home="shared")
        (self.home / ".npmrc").write_text("//r.example/:_authToken=x\n")
        rows = self.plan(*options, env=env)["warnings"]
        wanted = ("the home is shared", "files in the project that look like secrets", "variables that look like secrets pass into the box: MY_TOKEN, OTHER_KEY",
                  "the network is the host's", "logins of package managers stay outside")
        places = [next(number for number, row in enumerate(rows) if row.startswith(start)) for start in wanted]
        self.assertEqual(places, sorted(places), rows)
        self.assertLess(places[3], next(number for number, row in enumerate(rows) if "apiKeyHelper" in row))

    def test_secrets_that_enter_are_never_folded(self):
        options, _ = self.rich()
        names = [f"NUMBER_{number}_OF_MANY_TOKENS" for number in range(14)] + [f"PLAIN_{number}" for number in range(60)]
        env = {name: "x" for name in names} | {"CLAUDEBOX_EXTRA_ENV": ",".join(names)}
        for rows in (24, 14):
            lines = self.shown(*options, env=env, rows=rows)
            text = " ".join("\n".join(lines).split())
            listed = text[text.index("Variables:"):text.index("Mounts:")]
            for name in names[:14]:
                self.assertIn(name, listed)
            for name in (".env", "a.pem", "id_rsa"):
                self.assertIn(name, text[text.index("Warnings:"):])
            self.assertRegex(listed, r"and \d+ more: d")

    def test_packages_of_the_repository_that_are_not_added(self):
        options, env = self.rich()
        (self.project / ".claudebox").mkdir()
        (self.project / ".claudebox/tools.txt").write_text("jq\nhello\n")
        for rows, high in ((24, False), (40, True)):
            terminal = self.open(*options, env=env, rows=rows)
            if b"Add them" in self.until(terminal, r"(Add them[^?]*\?|Start\?) "):
                terminal.send("n\n")
                terminal.expect(r"Start\? ")
            text = " ".join(terminal.output.decode().split())
            terminal.send("n\n")
            terminal.wait()
            self.assertIn("packages that the repository requests (.claudebox/tools.txt) are not added: jq, hello", text)
            if high:
                self.assertIn("~/project/.claudebox is read-only: packages that the repository requests", text)

    @staticmethod
    def until(terminal, pattern):
        terminal.expect(pattern)
        return terminal.output

    def test_text_ends_after_a_word(self):
        options, env = self.rich()
        self.git("init", "-q")
        (self.home / ".npmrc").write_text("//r.example/:_authToken=x\n")
        plan = self.plan(*options, env=env)
        words = set(" ".join([*plan["warnings"], *(f"{row['what']} ({row['why']}): {row['option']}" for row in plan["left_out"])]).split())
        cut = 0
        for rows in (20, 22, 24, 26, 28):
            text = "\n".join(self.shown(*options, env=env, rows=rows))
            text = text[text.index("Warnings:"):text.index("First start:")]
            for word in re.findall(r"(\S+)\.\.\.", text):
                cut += 1
                self.assertIn(word, words, text)
        self.assertGreater(cut, 0)

    def test_the_sentences_of_a_first_start_are_not_cut(self):
        self.repository(self.project)
        self.fake_claude("true")
        for name in (".npmrc", ".envrc"):
            (self.project / name).write_text("x=1\n")
        lines = self.shown(command=())
        self.assertEqual(len(lines), 19, lines)
        self.assertNotIn("...", "\n".join(lines))
        self.assertIn("You log in once: all boxes share the login.", " ".join(" ".join(lines).split()))
        # With more sections, each still shows its first item in full.
        for key in ("core.hooksPath", "commit.gpgSign", "core.fsmonitor"):
            self.git("config", "--global", key, "true")
        (self.home / ".claude").mkdir(exist_ok=True)
        (self.home / ".claude/settings.json").write_text('{"apiKeyHelper": "x"}')
        lines = self.shown(command=(), env={"JAVA_HOME": "/opt/j", "CLAUDEBOX_EXTRA_ENV": "FOO_A,TERM", "FOO_A": "1"})
        self.assertEqual(len(lines), 19, lines)
        self.assertNotIn("...", "\n".join(lines))
        self.assertRegex(" ".join(" ".join(lines).split()), r"Not logged in: This machine has no Claude login and no ANTHROPIC_API_KEY\. ")

    def test_a_first_start_claims_nothing_that_a_mount_makes_false(self):
        (self.home / "private").mkdir()
        text = " ".join(" ".join(self.shown("--mount-ro", "~/private", rows=40)).split())
        self.assertIn("First start: claudebox will create ~/.claudebox", text)
        self.assertIn("The box has only what --audit=full lists. To look around in it: claudebox --shell", text)
        self.assertNotIn("Nothing else", text)

    def test_free_rows_are_used(self):
        """What is cut leaves no row of the screen empty."""
        options, env = self.rich()
        for rows in (24, 26, 30):
            lines = self.shown(*options, env=env, rows=rows)
            if " more: d)" in "\n".join(lines):
                self.assertGreaterEqual(len(lines), rows - 4 - 1 - 1, "\n".join(lines))


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


class Changes(ShortTest):
    """What "confirm": "changed" asks about."""

    def text(self, **options):
        lines = self.shown(**options)
        return lines, re.search(r"Changed: (.*?) (?:Warnings|Not in the box|In every box):", " ".join(" ".join(lines).split()))[1]

    def setUp(self):
        super().setUp()
        self.profile(network="none", confirm="changed")
        terminal = self.open()
        terminal.expect(QUESTION)
        terminal.send("y\n")
        self.assertEqual(terminal.wait(), 0)

    def test_secrets_and_what_enters_first_and_the_rows_are_used(self):
        data = self.home / "data"
        data.mkdir()
        names = [f"PLAIN_{number}" for number in range(6)]
        self.profile(network="full", confirm="changed", mounts=[{"host": "~/data"}], env={name: "x" for name in names}, extra_env_passthrough=["SOME_TOKEN"])
        lines, text = self.text(env={"SOME_TOKEN": "value", "EDITOR": "vi"})
        self.assertLessEqual(len(lines), 19)
        self.assertTrue(text.startswith("+ env SOME_TOKEN SECRET, "), text)
        for wanted in ("+ network full", "+ mount read-only ~/data", *(f"+ env {name}" for name in names)):
            self.assertIn(wanted, text)
        self.assertNotIn("more: d", text)
        self.assertLess(text.index("+ mount"), text.index("+ env EDITOR"))
        self.assertLess(text.index("+ env EDITOR"), text.index("- network none"))

    def test_many_changes_are_whole_or_counted(self):
        names = [f"PLAIN_{number}" for number in range(60)]
        self.profile(network="none", confirm="changed", env={name: "x" for name in names}, extra_env_passthrough=["SOME_TOKEN"])
        lines, text = self.text(env={"SOME_TOKEN": "value"})
        self.assertEqual(len(lines), 19, "\n".join(lines))
        self.assertRegex(text, r"^\+ env SOME_TOKEN SECRET, (\+ env PLAIN_\d+,? )+\(and \d+ more: d\)$")


class WithoutATerminal(ShortTest):
    def test_what_is_folded_names_an_option(self):
        options, env = self.rich()
        said = self.claudebox(*options, "--exec", "true", env=env).stderr
        self.assertRegex(said, r"\(and \d+ more: --audit=full\)")
        self.assertNotRegex(said, r"\bd\)|\(d:")

    def test_the_error_is_short(self):
        for command in (("-p", "x"), ("mcp", "list"), ("--exec", "true")):
            with self.subTest(command=command):
                self.fake_claude("echo it-runs")
                done = self.claudebox(*command)
                self.assertEqual((done.returncode, done.stdout), (125, ""))
                self.assertLessEqual(len(done.stderr.splitlines()), 24, done.stderr)
                self.assertTrue(done.stderr.endswith("cannot ask for confirmation: there is no terminal\nhint: the list above is the box, and "
                                                     "--audit=full shows all of it: start with --yes if you agree\n"), done.stderr)
                self.assertGreater(len(self.claudebox("--audit=full", *command).stderr.splitlines()), 40)


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

    def approve(self, *arguments, **options):
        terminal = self.open(*arguments, **options)
        terminal.expect(r"Start\? ")
        terminal.send("y\n")
        self.assertEqual(terminal.wait(), 0)

    def test_warnings_of_the_approval_do_not_come_again(self):
        self.profile(home="shared")
        (self.project / ".env").write_text("x")
        first = self.claudebox("--yes", "--exec", "true").stderr
        self.assertIn("files in the project that look like secrets: .env\n", first)
        self.assertIn("the network is the host's", first)
        self.approve()
        later = self.claudebox("--yes", "--exec", "true").stderr
        self.assertNotIn("look like secrets", later)
        self.assertNotIn("the network is the host's", later)
        self.assertIn("! the home is shared", later)
        (self.project / "id_rsa").write_text("x")
        self.assertIn("files in the project that look like secrets: .env, id_rsa\n", self.claudebox("--yes", "--exec", "true").stderr)
        self.assertIn("the network is the host's", self.claudebox("--yes", "--audit=full", "--exec", "true").stderr)

    def test_the_number_of_missing_things(self):
        self.profile(network="none")
        line = r"(?m)^2 things of yours are not in the box: claudebox --check lists them$"
        env = {"NODE_ENV": "test", "GITHUB_TOKEN": "x"}
        self.assertRegex(self.claudebox("--yes", "--exec", "true", env=env).stderr, line)
        self.assertRegex(self.claudebox("--yes", "-p", "x", env=env).stderr, line)
        self.assertEqual(self.claudebox("--yes", "--quiet", "--exec", "true", env=env).stderr, "")
        self.assertNotIn("of yours", self.claudebox("--yes", "--audit=full", "--exec", "true", env=env).stderr)
        self.assertIn("1 thing of yours is not in the box: claudebox --check lists it\n",
                      self.claudebox("--yes", "--exec", "true", env={"NODE_ENV": "x"}).stderr)

    def test_a_smaller_box_is_not_asked_about(self):
        data = self.home / "data"
        data.mkdir()
        self.profile(network="none", confirm="changed")
        self.approve("--mount-ro", "~/data", env={"EDITOR": "vi"})
        terminal = self.open()
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(terminal.output.decode().replace("\r\n", "\n").split("\n\n")[0].replace("\n                      ", " "),
                         "No longer in the box: env EDITOR, mount read-only ~/data")
        self.assertIn(b"\nit-runs", terminal.output)

    def test_with_yes_a_smaller_box_is_a_number(self):
        self.profile(network="none")
        self.env["NO_COLOR"] = "1"
        self.approve(env={"EDITOR": "vi", "VISUAL": "vi"})
        for env, line in (({}, "2 things of the last approval are no longer in the box: --audit=full"),
                          ({"EDITOR": "vi"}, "1 thing of the last approval is no longer in the box: --audit=full")):
            said = self.claudebox("--yes", "--exec", "true", env=env).stderr
            self.assertIn(f"{line}\n", said)
            self.assertNotIn("VISUAL", said)
        self.assertIn("  - env VISUAL\n", self.claudebox("--yes", "--audit=full", "--exec", "true").stderr)

    def test_a_line_that_is_gone(self):
        """Without some lines the box is smaller; without others it may be larger, so it is asked about."""
        self.profile(confirm="changed")
        self.approve()
        kept, = (self.home / ".claudebox").rglob("approved-*")
        approved = kept.read_text()
        for line in ("env EDITOR", "host port 3000", "published port 80", "login /x", "mcp x", "toolchain nvm /x", "package jq", "path /x", "nested",
                     "terminal direct", "mount read-only /nowhere/x", f"mount read-write {self.home}/data", "mount read-write /x <- /y SECRET"):
            kept.write_text(approved + line + "\n")
            terminal = self.open()
            self.assertEqual(terminal.wait(), 0, line)
            self.assertIn(b"No longer in the box: ", terminal.output)
        for line in ("limit memory 1G", "terminal_allow title", "package_settings none", "home none", "project read-only", "git url.x y", "something else",
                     f"mount read-only {self.project}/sub", "mount read-only /x\\ y", "mount tmpfs /x", "network none", "profile x by directory ~/y"):
            kept.write_text(approved + line + "\n")
            self.assertIn(f"- {line.split()[0]} ", "\n".join(self.shown()), line)

    def test_more_network_is_asked_about(self):
        self.profile(network="none", confirm="changed")
        self.approve()
        self.profile(network="full", confirm="changed")
        self.assertIn("+ network full", "\n".join(self.shown()))

    def test_a_narrower_network_is_not_asked_about(self):
        self.profile(network="full", confirm="changed")
        self.approve()
        self.profile(network="none", confirm="changed")
        terminal = self.open()
        self.assertEqual(terminal.wait(), 0)
        self.assertIn(b"it-runs", terminal.output)

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


class Configured(ShortTest):
    """A user who has configured much for Claude that the box lacks."""

    def setUp(self):
        super().setUp()
        for name in (*(f"server-{number}" for number in range(5)), "hook", "status"):
            program(self.home / "ai" / name, "true")
        (self.home / "notes").mkdir()
        (self.home / "notes/style.md").write_text("Be brief.\n")
        (self.home / ".claude").mkdir()
        (self.home / ".claude/CLAUDE.md").write_text("@~/notes/style.md\n")
        (self.home / ".claude/settings.json").write_text(json.dumps({
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"{self.home}/ai/hook"}]}]},
            "statusLine": {"type": "command", "command": f"{self.home}/ai/status"}}))
        (self.home / ".claude.json").write_text(json.dumps({"mcpServers": {f"s{number}": {"command": f"{self.home}/ai/server-{number}"} for number in range(5)}}))
        self.git("config", "--global", "core.sshCommand", "ssh -v")
        self.git("config", "--global", "alias.pub", "!my-publish")
        self.fake_claude("echo it-runs")
        self.env |= {"LIBRARY_PATH": "/usr/lib/x", "MY_TOKEN": "value"}

    def left_out_shown(self, **options):
        lines = self.shown(command=(), **options)
        start = next(number for number, line in enumerate(lines) if line.startswith("Not in the box:"))
        end = next(number for number in range(start + 1, len(lines) + 1) if number == len(lines) or not lines[number].startswith(" "))
        return lines, " ".join(" ".join(lines[start:end]).split()).removeprefix("Not in the box: ")

    def test_what_is_configured_comes_first(self):
        kinds = ["MCP server"] * 5 + ["hook", "statusLine"]
        rows = [row["what"] for row in self.plan()["left_out"]]
        self.assertEqual([what.split(" '")[0] for what in rows[:7]], kinds, rows)
        for minor in ("variables: MY_TOKEN", "1 other variable of your environment"):
            self.assertGreater(rows.index(minor), rows.index("~/notes/style.md"))
        self.assertGreater(min(number for number, what in enumerate(rows) if what.startswith("git ")), rows.index("~/notes/style.md"))

    def test_an_entry_is_whole_or_counted(self):
        rows = [(f"{row['what']} ({row['why']})" + (f": {row['option']}" if row["option"] else "")) for row in self.plan()["left_out"] if "names" not in row]
        for rows_of_screen in (16, 20, 24, 28, 40):
            lines, text = self.left_out_shown(rows=rows_of_screen)
            self.assertLessEqual(len(lines), max(rows_of_screen - 5, 12), "\n".join(lines))
            self.assertNotIn("...", text)
            shown, _, count = text.rpartition(" (and ") if " (and " in text else ("", "", text)
            for row in rows:
                shown = shown.replace(row, "").strip()
            if rows_of_screen < 40:
                self.assertEqual(shown, "", text)
                self.assertTrue(count.endswith(": d)"), text)

    def test_the_screen_is_used_and_the_rest_is_counted_by_kind(self):
        lines, text = self.left_out_shown()
        self.assertEqual(len(lines), 19, "\n".join(lines))
        self.assertIn("MCP server 's0' (its program ~/ai/server-0 is not in the box): --path ~/ai", text)
        self.assertRegex(text, r"\(and \d MCP servers, 1 hook, 1 status line, \d others: d\)$")


class OtherVariables(ShortTest):
    names = ["GIT_AUTHOR_NAME", "MAKEFLAGS", "MY_FLAG", "MY_MODE", "NODE_ENV"]
    noise = ["LS_COLORS", "XDG_SESSION_ID", "SSH_TTY", "TERM_PROGRAM", "DBUS_SESSION_BUS_ADDRESS", "_", "SHLVL", "OLDPWD"]

    def setUp(self):
        super().setUp()
        self.env |= {name: "CANARY-VALUE" for name in (*self.names, *self.noise)}

    def row(self, *arguments, **options):
        rows = [row for row in self.plan(*arguments, **options)["left_out"] if "other variable" in row["what"]]
        return rows[0] if rows else None

    def test_number_and_names(self):
        row = self.row()
        self.assertEqual(row["what"], "5 other variables of your environment")
        self.assertEqual((sorted(row["names"]), row["option"]), (self.names, "CLAUDEBOX_EXTRA_ENV=NAME,..."))
        full = self.claudebox("--yes", "--audit=full", "--exec", "true").stderr
        line, = re.findall(r"  5 other variables of your environment \((.*)\): CLAUDEBOX_EXTRA_ENV=NAME,\.\.\.\n", full)
        self.assertEqual(sorted(line.split(", ")), self.names)
        self.assertRegex(" ".join(" ".join(self.shown()).split()), r"5 other variables of your environment \(\w+, \w+, \w+ and 2 more\): CLAUDEBOX_EXTRA_ENV=NAME")
        self.assertIn("5 other variables of your environment", self.claudebox("--check").stdout)

    def test_no_value_is_shown(self):
        for arguments in (("--dry-run=json",), ("--dry-run",), ("--check=json",), ("--yes", "--audit=full", "--exec", "true")):
            done = self.claudebox(*arguments)
            self.assertNotIn("CANARY-VALUE", done.stdout + done.stderr)
        self.assertNotIn("CANARY-VALUE", "\n".join(self.shown()))

    def test_a_named_one_passes_and_is_not_counted(self):
        env = {"CLAUDEBOX_EXTRA_ENV": "NODE_ENV,MAKEFLAGS,MY_FLAG,MY_MODE"}
        self.assertEqual(self.row(env=env)["what"], "1 other variable of your environment")
        self.assertEqual(self.row(env=env)["option"], "CLAUDEBOX_EXTRA_ENV=NODE_ENV,MAKEFLAGS,MY_FLAG,MY_MODE,GIT_AUTHOR_NAME")
        self.assertIsNone(self.row(env={"CLAUDEBOX_EXTRA_ENV": ",".join(self.names)}))

    def test_the_option_keeps_the_names_that_are_requested(self):
        env = {"CLAUDEBOX_EXTRA_ENV": "NODE_ENV, TERM", "GH_TOKEN": "CANARY-VALUE"}
        rows = {row["what"]: row["option"] for row in self.plan(env=env)["left_out"]}
        self.assertEqual(rows["variables: GH_TOKEN"], "CLAUDEBOX_EXTRA_ENV=NODE_ENV,TERM,GH_TOKEN")
        self.assertEqual(self.row(env=env)["option"], "CLAUDEBOX_EXTRA_ENV=NODE_ENV,TERM,NAME,...")

    def test_a_variable_has_one_row(self):
        env = {"GITHUB_TOKEN": "x", "HTTP_PROXY": "http://u:secret@proxy.example:1", "NPM_CONFIG_REGISTRY": "x"}
        for network in ("full", "none"):
            self.assertEqual(sorted(self.row("--network", network, env=env)["names"]), self.names)


if __name__ == "__main__":
    unittest.main()
