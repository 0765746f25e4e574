# SPDX-License-Identifier: MIT
"""The audit: it is complete and readable, and no value in it can move the cursor, set a colour or forge a line."""
import json
import os
import re
import unittest

from lib.box import CLAUDEBOX, BoxTest
from lib.terminal import Terminal

ESCAPES = "\x1b[31m\x1b[2J\x1b]0;title\x07\x1bP1;2|x\x1b\\\r\x08\x7f\x0b\x0c\x85\x9b31m\u202e\u2066\u200b\u2028\U000e0041"
FORGED = "\n  [~] FAKE made-up\r  [>] FAKE\n  ! FAKE warning\nNetwork:\n  none: FAKE\n"
# Any byte that is neither a line end nor printable; claudebox's own colours are removed before.
CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]")
COLOUR = re.compile(rb"\x1b\[(?:0|1|2|33|35|36)m")
INVISIBLE = re.compile("[\x80-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")


class AuditTest(BoxTest):
    def audit(self, *arguments, cwd=None, env=None):
        """Returns the bytes that a pipe receives."""
        done = self.claudebox("--yes", "--audit=full", "--exec", "true", *arguments, cwd=cwd, env=env)
        self.assertEqual(done.returncode, 0, done.stderr[-400:])
        return os.fsencode(done.stderr)

    def on_terminal(self, *command, cwd=None, env=None, columns=80):
        terminal = Terminal(command or (CLAUDEBOX, "--yes", "--audit=full", "--exec", "true"), {**self.env, **(env or {})}, cwd or self.project, columns=columns)
        self.addCleanup(terminal.close)
        terminal.wait()
        return terminal.output.replace(b"\r\n", b"\n")

    @staticmethod
    def rows(text, columns):
        """Returns the lines as a terminal of that width shows them."""
        for line in text.split("\n"):
            for start in range(0, max(1, len(line)), columns or len(line) or 1):
                yield line[start:start + columns] if columns else line

    def assert_clean(self, output, colours=False, columns=0):
        if colours:
            output = COLOUR.sub(b"", output)
        self.assertIsNone(CONTROL.search(output), output[max(0, (CONTROL.search(output) or re.match(b"", b"")).start() - 60):][:120])
        text = output.decode()  # valid UTF-8
        self.assertIsNone(INVISIBLE.search(text))
        # A wrapped path continues far to the right; a row of the audit starts with two spaces.
        for row in self.rows(text, columns):
            self.assertNotRegex(row, r"^\s{0,6}(\[[~>+]\]|!|none:)\s+FAKE")
        self.assertEqual(len([row for row in self.rows(text, columns) if row.startswith("Network:")]), 1)
        return text


class Words(AuditTest):
    """Rows that a new user understands."""

    def test_the_marks_are_explained(self):
        text = self.audit().decode()
        legend = text[text.index("Marks:"):text.index("Environment:")]
        for mark in ("[~]", "[>]", "[+]"):
            self.assertEqual(legend.count(mark), 1)

    @unittest.skipIf(os.getuid() == 0, "root can write everywhere")
    def test_a_project_that_the_user_cannot_write(self):
        reason = "the project; read-only in effect: you cannot write to this directory"
        self.assertNotIn(reason, self.audit().decode())
        self.project.chmod(0o555)
        self.assertIn(f"~/project ({reason})", self.audit().decode())
        self.assertIn(reason, [mount["why"] for mount in self.plan()["mounts"]])

    def test_a_list_of_servers_is_always_there(self):
        self.assertEqual(self.plan()["mcp_servers"], [])

    def test_the_name_of_a_server_is_quoted_once(self):
        (self.home / ".claude.json").write_text(json.dumps({"mcpServers": {"my own, server": {"command": "/nowhere/server"}}}))
        self.assertIn("MCP server 'my own, server'", [row["what"] for row in self.plan()["left_out"]])

    def test_a_repeated_option_is_one_change(self):
        tools = self.home / "tools"
        tools.mkdir()
        terminal = Terminal((CLAUDEBOX, "--exec", "true"), {**self.env, "NO_COLOR": "1"}, self.project)
        self.addCleanup(terminal.close)
        terminal.expect(r"Start\? ")
        terminal.send("y\n")
        self.assertEqual(terminal.wait(), 0)
        done = self.claudebox("--yes", "--audit=full", "--path", tools, "--path", tools, "--exec", "true")
        self.assertEqual(done.stderr.count("  + path ~/tools\n"), 1, done.stderr)

    def test_the_origin_of_a_missing_mount_is_named(self):
        self.assertIn("--mount-ro: mount '/nowhere' does not exist", self.refused("--yes", "--mount-ro", "/nowhere", "--exec", "true"))
        self.profile(mounts=[{"host": "/nowhere"}])
        self.assertRegex(self.refused(), r"default\.json.*mounts.*'/nowhere' does not exist")

    def test_programs_with_a_comma_and_claudebox_itself(self):
        tools = self.home / "tools"
        tools.mkdir()
        for name in (",", "claudebox"):
            (tools / name).write_text("#!/bin/sh\n")
            (tools / name).chmod(0o755)
        row, = [row for row in self.plan(env={"PATH": f"{tools}:{self.env['PATH']}"})["left_out"] if row["what"] == "~/tools"]
        self.assertEqual(row["why"], "2 programs: ',', claudebox (this program)")

    def test_git_rows(self):
        for name, value in (("url.ssh://git@host.example/.insteadOf", "https://host.example/"), ("alias.up", "!git pull")):
            self.git("config", "--global", name, value, cwd=self.home)
        rows = {row["what"]: row["why"] for row in self.plan()["left_out"]}
        self.assertIn("replaces https:// by SSH", rows["git url.*.insteadOf"])
        self.assertIn("does not know an alias that can run programs", rows["git alias.up"])

    def test_unused_settings_of_npm_are_named(self):
        (self.home / ".npmrc").write_text("fund=false\nregistry=https://registry.example/\n")
        self.assertIn("\nSettings without effect here:\n  ~/.npmrc: fund\n", self.audit().decode())
        report, = [row for row in self.plan()["package_settings"] if row["file"].endswith("/.npmrc")]
        self.assertEqual(report["unused"], ["fund"])

    def test_a_secret_of_the_settings_is_named_by_file_and_key(self):
        (self.home / ".claude").mkdir()
        (self.home / ".claude/settings.json").write_text(json.dumps({"env": {"A_TOKEN": "CANARY-VALUE"}}))
        text = self.audit().decode()
        self.assertIn("! your Claude settings.json: env 'A_TOKEN' is left out (name or value like a secret's; ", text)
        self.assertNotIn("CANARY-VALUE", text)

    def test_help_separates_options_from_their_descriptions(self):
        rows = re.findall(r"(?m)^  (?:-\w, |    )(--.*)$", self.claudebox("--help").stdout)
        self.assertGreater(len(rows), 15)
        for row in rows:
            self.assertRegex(row, r"^--[\w-]+(\[=\w+\]| [A-Z]+( \[ARG\.\.\.\]|\[:DEST\])?)?  +[^ ]")
        self.assertIn("--audit[=full]          show every variable and mount before the start; with or without =full\n", self.claudebox("--help").stdout)


class Hostile(AuditTest):
    def each(self, cwd=None, env=None):
        self.assert_clean(self.audit(cwd=cwd, env=env))
        self.assert_clean(self.on_terminal(cwd=cwd, env=env), colours=True, columns=80)

    def test_wrapped_lines_forge_nothing(self):
        """A path can choose where the terminal breaks it, and continue with any kind of space."""
        forged = []
        for space in (" ", "\u00a0", "\u2003", "\u3000"):
            for lead in range(48, 67):
                path = self.home / "f" / ("x" * lead + f"{space}{space}[~]{space}FAKE{space}{space}!{space}FAKE")
                path.mkdir(parents=True)
                try:
                    self.assert_clean(self.on_terminal(cwd=path), colours=True, columns=80)
                except AssertionError:
                    forged.append(f"U+{ord(space):04x} after {lead}")
        self.assertEqual(forged, [])

    def test_warnings_forge_nothing(self):
        forged = []
        for lead in range(0, 60, 4):
            (self.project / (".env." + "x" * lead + " ! FAKE [~] FAKE ! FAKE [~] FAKE")).write_text("x")
            try:
                self.assert_clean(self.on_terminal(), colours=True, columns=80)
            except AssertionError:
                forged.append(lead)
            next(self.project.iterdir()).unlink()
        self.assertEqual(forged, [])

    def test_values(self):
        self.each(env={"EDITOR": ESCAPES, "VISUAL": FORGED, "LC_ALL": "\udcff\udc80\udcc3", "TZ": FORGED + ESCAPES, "TERM": "x\x1b[31m",
                       "CLAUDEBOX_EXTRA_ENV": "MINE,MY_TOKEN", "MINE": FORGED + ESCAPES, "MY_TOKEN": ESCAPES + FORGED + "x" * 30 + ESCAPES})

    def test_secret_ends_are_escaped(self):
        """The visible first and last characters of a masked value are escaped as well."""
        for value in ("\x1b[3" + "x" * 30 + "\x1b[1m", "\n\n\n\n" + "x" * 30 + "\n  [", "éé" + "x" * 30 + "éé", "\udcff" * 40, "日本" + "x" * 30 + "日本"):
            self.each(env={"ANTHROPIC_API_KEY": value})

    def test_project_path(self):
        for name in (ESCAPES.replace("/", ""), FORGED, "\udcff\udcfe"):
            path = self.home / f"p{name}"
            path.mkdir()
            self.each(cwd=path)

    def test_home_path(self):
        home = self.home / f"h{ESCAPES}{FORGED}"
        (home / "project").mkdir(parents=True)
        self.each(cwd=home / "project", env={"HOME": str(home)})

    def test_odd_names_do_not_pass(self):
        output = self.audit(env={"LC_\x1b[31m": "x", "LC_\n  [~] FAKE": "x", "LC_A B": "x", "LC_é": "x", "LC_": "x", "LC_%s%n": "x"})
        self.assert_clean(output)
        for word in (b"FAKE", b"LC_A", b"LC_%"):
            self.assertNotIn(word, output)

    def test_names_in_the_project(self):
        for name in (f".env.{ESCAPES}", ".env.\n  ! FAKE", "id_rsa", "x\x1b[31m.pem"):
            (self.project / name.replace("/", "")).write_text("x")
        server = {f"s{ESCAPES}": {"env": {f"TOKEN{FORGED}": "canary"}}}
        (self.project / ".mcp.json").write_text(json.dumps({"mcpServers": server}))
        self.each()

    def test_settings_of_the_host(self):
        (self.home / ".claude").mkdir()
        (self.home / ".claude" / f"x{ESCAPES}.md".replace("/", "")).write_text("x")
        (self.home / ".claude/settings.json").write_text(json.dumps({
            "env": {f"X_TOKEN{FORGED}{ESCAPES}": "x"}, "statusLine": {"command": f"/x{ESCAPES}"},
            "hooks": {f"E{ESCAPES}": [{"hooks": [{"command": f"/nowhere/{FORGED}{ESCAPES}"}]}]}}))
        self.each()

    def test_git(self):
        (self.project / ".git").write_text(f"gitdir: {self.home}/x\x1b[31m\u202e\n")
        (self.home / "x\x1b[31m\u202e" / "objects").mkdir(parents=True)
        (self.home / "x\x1b[31m\u202e" / "HEAD").write_text("x")
        self.each()

    def test_claude(self):
        path = self.home / f"c{ESCAPES}{FORGED}".replace("/", "") / "claude"
        path.parent.mkdir()
        path.write_text("#!/bin/sh\nexport API_TOKEN=canary\n")
        path.chmod(0o755)
        self.each(env={"CLAUDEBOX_CLAUDE": str(path)})

    def test_long_values(self):
        values = {"EDITOR": "e" * 120_000, "VISUAL": "\x1b" * 120_000, "LC_ALL": "\n" * 120_000, "CLAUDEBOX_EXTRA_ENV": "A,B_KEY",
                  "A": "é" * 60_000, "B_KEY": "k" * 120_000}
        output = self.audit(env=values)
        self.assert_clean(output)
        self.assertLess(len(output), 30_000)
        output = self.on_terminal(env=values)
        self.assert_clean(output, colours=True)
        self.assertLess(len(output), 30_000)

    def test_errors_are_clean_too(self):
        odd = self.home / f"o{ESCAPES}{FORGED}".replace("/", "")
        (odd / ".claudebox").mkdir(parents=True, mode=0o755)
        (odd / ".claudebox").chmod(0o755)
        (odd / "project").mkdir()
        # PATH is split at colons, and the other names contain one
        programs = self.home / "b\x1b[31m\n  [~] FAKE"
        programs.mkdir()
        (programs / "bwrap").write_text("not a program")
        (programs / "git").write_text("#!/bin/sh\nexit 1\n")
        (programs / "pasta").write_text("#!/bin/sh\nprintf '\\033[31m%s' x\n")
        for program in programs.iterdir():
            program.chmod(0o755)
        dirty = []
        for arguments, cwd, env in (
                (("--yes", "--exec", "true"), odd, {"HOME": str(odd)}),
                (("--yes", "--exec", "true"), odd / "project", {"HOME": str(odd)}),
                (("--yes", "--exec", "true"), self.project, {"PATH": f"{programs}:{self.env['PATH']}"}),
                (("--check",), self.project, {"PATH": f"{programs}:{self.env['PATH']}", "CLAUDEBOX_CLAUDE": f"/x{ESCAPES}"}),
                (("--check",), odd / "project", {"HOME": str(odd)}),
                (("--yes",), self.project, {"CLAUDEBOX_CLAUDE": f"/nowhere{ESCAPES}{FORGED}"}),
                (("--yes", "--exec", f"no{ESCAPES}{FORGED}"), self.project, {}),
                (("--yes", "--network", ESCAPES + FORGED), self.project, {}),
                (("--yes", f"x{ESCAPES}{FORGED}", "--exec", "x"), self.project, {}),
                (("--yes", "--exec", "true"), self.project, {"CLAUDEBOX_EXTRA_ENV": ESCAPES + FORGED})):
            done = self.claudebox(*arguments, cwd=cwd, env=env)
            output = os.fsencode(done.stderr + done.stdout)
            self.assertNotEqual(done.returncode, 0)
            match = CONTROL.search(output)
            if match or re.search(rb"(?m)^\s{0,6}(\[[~>+]\]|!|none:)\s+FAKE", output):
                dirty.append((arguments[0], list(env), output[max(0, match.start() - 60):match.end() + 20] if match else output))
        self.assertEqual(dirty, [])


class Content(AuditTest):
    def test_every_variable_and_mount_of_the_plan_is_shown(self):
        (self.home / ".claude").mkdir()
        (self.home / ".claude/CLAUDE.md").write_text("x")
        env = {"ANTHROPIC_API_KEY": "sk-ant-api03-canarycanarycanary", "CLAUDEBOX_EXTRA_ENV": "MINE", "MINE": "1"}
        text = self.audit(env=env).decode()
        plan = self.plan("--exec", "true", env=env)
        marks = {"generated": "[~]", "allowlist": "[>]", "requested": "[+]"}
        for variable in plan["environment"]:
            self.assertRegex(text, rf"(?m)^  {re.escape(marks[variable['origin']])} {re.escape(variable['name'])}(?: |$)")
        shown = text[text.index("Mounts:"):text.index("Network:")]
        for mount in plan["mounts"]:
            if mount["why"] is None:
                continue
            path = mount["path"].replace(str(self.home), "~")
            self.assertRegex(shown, rf"(?:^| ){re.escape(path)}[ ,\n]")
            self.assertIn(mount["why"], shown)
            if mount["host"] and mount["kind"] in ("read-only", "read-write") and mount["host"] != mount["path"]:
                self.assertIn(mount["host"].replace(str(self.home), "~"), shown)
        self.assertIn("full", text[text.index("Network:"):])

    def test_every_mount_of_the_host_has_a_reason(self):
        for mount in self.plan()["mounts"]:
            if mount["why"] is None:
                self.assertIn(mount["kind"], ("directory", "link", "sealed"))

    def test_the_audit_is_on_stderr_only(self):
        done = self.claudebox("--yes", "--audit=full", "--exec", "true")
        self.assertEqual(done.stdout, "")
        self.assertIn("Environment:", done.stderr)

    def test_path_is_one_directory_a_line(self):
        text = self.audit().decode()
        path = next(v["value"] for v in self.plan()["environment"] if v["name"] == "PATH").split(":")
        lines = [line.strip() for line in text.splitlines()]
        self.assertRegex("\n".join(lines), rf"(?m)^\[~\] PATH +{re.escape(path[0])}$")
        for directory in path[1:]:
            self.assertIn(directory, lines)

    def test_secrets_are_masked(self):
        values = {"ANTHROPIC_API_KEY": "sk-ant-api03-abcdefghijklmnopqrstuvwxyz-0123", "CLAUDEBOX_EXTRA_ENV": "A_TOKEN,MY_PASSWORD,DB,PLAIN,SHORT_KEY",
                  "A_TOKEN": "short-secret", "MY_PASSWORD": "hunter2", "DB": "postgres://user:s3cretpassword@db.example/x", "PLAIN": "requested-value",
                  "SHORT_KEY": "1234567890123456789"}
        for text in (self.audit(env=values).decode(), self.on_terminal(env=values, columns=200).decode()):
            self.assertIn("sk-a...0123 (masked)", text)
            for secret in ("abcdefgh", "short-secret", "shor", "hunter2", "s3cret", "1234567"):
                self.assertNotIn(secret, text)
            # Of a variable that was requested by name, nothing is shown.
            self.assertNotIn("requested-value", text)
            self.assertRegex(text, r"PLAIN +\*{8} ")
        for output in ("--dry-run", "--dry-run=json"):
            text = self.claudebox(output, "--exec", "true", env=values).stdout
            self.assertIn("PLAIN", text)
            for secret in ("requested-value", "short-secret", "hunter2", "s3cret", "1234567"):
                self.assertNotIn(secret, text)

    def test_a_secret_that_passes_causes_a_warning(self):
        text = self.audit(env={"CLAUDEBOX_EXTRA_ENV": "MY_TOKEN,X", "MY_TOKEN": "a", "X": "ghp_" + "x" * 36}).decode()
        warnings = text[text.index("Warnings:"):]
        self.assertIn("! variables that look like secrets pass into the box: MY_TOKEN, X (a GitHub token)\n", warnings)

    def test_colour_only_on_a_terminal(self):
        self.assertNotIn(b"\x1b", self.audit())
        self.assertIn(b"\x1b[", self.on_terminal())
        self.assertNotIn(b"\x1b", self.on_terminal(env={"NO_COLOR": "1"}))
        self.assertNotIn(b"\x1b", self.on_terminal(env={"TERM": "dumb"}))
        self.assertIn(b"\x1b[", self.on_terminal(env={"NO_COLOR": ""}))
        self.assertNotIn(b"\x1b", self.on_terminal("sh", "-c", f'"{CLAUDEBOX}" --yes --audit=full --exec true 2>&1 | cat'))

    def test_colour_changes_no_text(self):
        self.audit()  # the first start has a word more
        plain = self.on_terminal(env={"NO_COLOR": "1"}, columns=100)
        coloured = COLOUR.sub(b"", self.on_terminal(columns=100))
        self.assertEqual(coloured.decode().split("Mounts:")[1], plain.decode().split("Mounts:")[1])

    def test_every_width(self):
        (self.project / ".env").write_text("x")
        for columns in (1, 20, 40, 60, 80, 100, 120, 160, 200, 1000):
            text = self.assert_clean(self.on_terminal(env={"EDITOR": "x" * 500, "CLAUDEBOX_EXTRA_ENV": "JP", "JP": "日本" * 200}, columns=columns),
                                     colours=True)
            self.assertIn("Network:", text)
            # Long words are not broken, so that a path can be copied.
            for line in text.splitlines():
                words = [word for word in line.split() if len(word) > 20]
                if columns >= 80 and not words:
                    self.assertLessEqual(len(line), columns, line)
            if columns >= 120:
                self.assertLessEqual(max(len(line) for line in text.splitlines()), columns)


if __name__ == "__main__":
    unittest.main()
