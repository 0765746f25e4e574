# SPDX-License-Identifier: MIT
"""The approval of a box is stored for each project, outside of it, and later changes are shown before the question."""
import json
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

    def changes(self, **env):
        """Returns the differences to the approved box."""
        return json.loads(self.claudebox("--dry-run=json", "--exec", "true", env={"NO_COLOR": "1", **env}).stdout)["changes"]

    def claude_files(self, server=None, settings=None):
        (self.home / ".claude.json").write_text(json.dumps({"mcpServers": {"x": server} if server else {}}))
        (self.home / ".claude").mkdir(exist_ok=True)
        (self.home / ".claude" / "settings.json").write_text(json.dumps(settings or {}))

    def test_a_changed_mcp_server(self):
        for before, after in (({"command": "sh"}, {"command": "bash"}), ({"command": "sh", "args": ["a"]}, {"command": "sh", "args": ["b"]}),
                              ({"type": "http", "url": "https://a.example/"}, {"type": "http", "url": "https://b.example/"}),
                              ({"type": "http", "url": "https://a.example/"}, {"type": "sse", "url": "https://a.example/"}),
                              ({"type": "http", "url": "https://a.example/"}, {"type": "http", "url": "https://a.example/", "headers": {"Accept": "application/json"}})):
            with self.subTest(after=after):
                self.claude_files(before)
                self.ask()
                self.assertEqual(self.changes(), [])
                self.claude_files(dict(reversed(before.items())))
                self.assertEqual(self.changes(), [])
                self.claude_files(after)
                self.assertEqual(self.changes(), ["+ mcp x changed"])
        self.profile(confirm="changed")
        self.assertIn("+ mcp x changed", self.ask())
        self.assertNotIn("Start?", self.ask(answer=None))

    def test_commands_and_rules_of_claudes_settings(self):
        def hooks(command, event="Stop", matcher="*"):
            return {"hooks": {event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]}}

        self.claude_files()
        self.ask()
        for before, after, wanted in (
                ({}, hooks("echo a"), ["+ claude hook Stop echo\\ a"]), (hooks("echo a"), {}, ["- claude hook Stop echo\\\\ a"]),
                (hooks("echo a"), hooks("echo a", matcher="Bash"), ["+ claude hook Stop echo\\ a changed"]),
                (hooks("echo " + "a" * 90), hooks("echo " + "a" * 89 + "b"), None),
                ({"statusLine": {"command": "true"}}, {"statusLine": {"command": "true", "padding": 1}}, ["+ claude statusLine true changed"]),
                ({"env": {"ANTHROPIC_BASE_URL": "https://a.example/x"}}, {"env": {"ANTHROPIC_BASE_URL": "https://b.example/x"}},
                 ["+ claude env ANTHROPIC_BASE_URL changed"]),
                ({"permissions": {"deny": ["WebFetch"]}}, {"permissions": {}}, ["- claude deny WebFetch"]),
                ({}, {"permissions": {"deny": ["WebFetch"]}}, ["+ claude deny WebFetch"]), ({"theme": "dark"}, {"theme": "light"}, [])):
            with self.subTest(before=before, after=after):
                self.claude_files(settings=before)
                self.ask()
                self.assertEqual(self.changes(), [])
                self.claude_files(settings=after)
                found = self.changes()
                if wanted is None:
                    self.assertRegex("|".join(found), r"^\+ claude hook Stop [^|]* changed$")
                else:
                    self.assertEqual(found, wanted)

    def test_a_removed_rule_is_asked_about_and_a_new_one_is_not(self):
        self.profile(confirm="changed")
        self.claude_files(settings={"permissions": {"deny": ["WebFetch"]}})
        self.ask()
        self.claude_files(settings={"permissions": {"deny": ["WebFetch", "WebSearch"]}})
        out = self.ask(answer=None)
        self.assertNotIn("Start?", out)
        self.assertIn("+ claude deny WebSearch", out)
        self.claude_files()
        self.assertIn("- claude deny WebFetch", self.ask())

    def test_an_address_with_another_host(self):
        cases = (("HTTPS_PROXY", "http://a.example:3128", "http://b.example:3128", "+ env HTTPS_PROXY changed"),
                 ("http_proxy", "a.example:1", "a.example:2", "+ env http_proxy changed"),
                 ("ANTHROPIC_BASE_URL", "https://a.example", "https://b.example", "+ env ANTHROPIC_BASE_URL changed"),
                 ("NO_PROXY", "a.example", "a.example,b.example", "+ env NO_PROXY changed"),
                 ("MY_SERVICE", "https://u:sesame-1@a.example/x", "https://u:sesame-1@b.example/x", "+ env MY_SERVICE SECRET changed"),
                 ("MY_SERVICE", "x", "https://b.example", "+ env MY_SERVICE (its content is recorded from now on)"),
                 ("MY_SERVICE", "https://b.example", "x", "+ env MY_SERVICE changed"))
        for name, before, after, wanted in cases:
            with self.subTest(name=name):
                extra = {"CLAUDEBOX_EXTRA_ENV": "MY_SERVICE"} if name == "MY_SERVICE" else {}
                self.ask(env={name: before, **extra})
                self.assertEqual(self.changes(**{name: before}, **extra), [])
                self.assertEqual(self.changes(**{name: after}, **extra), [wanted])
        self.ask(env={"MY_SERVICE": "https://u:one@a.example/x", "TERM": "xterm", "EDITOR": "vi", "CLAUDEBOX_EXTRA_ENV": "MY_SERVICE"})
        self.assertEqual(self.changes(MY_SERVICE="https://u:two@a.example/x", TERM="screen", EDITOR="sh", CLAUDEBOX_EXTRA_ENV="MY_SERVICE"), [])

    def test_a_value_that_becomes_a_secret(self):
        self.ask(env={"MY_SETTING": "plain", "CLAUDEBOX_EXTRA_ENV": "MY_SETTING"})
        self.assertEqual(self.changes(MY_SETTING="ghp_" + "a1B2" * 9, CLAUDEBOX_EXTRA_ENV="MY_SETTING"), ["+ env MY_SETTING SECRET"])
        self.profile(confirm="changed")
        out = self.ask(env={"MY_SETTING": "ghp_" + "a1B2" * 9, "CLAUDEBOX_EXTRA_ENV": "MY_SETTING"})
        self.assertIn("what is new: env MY_SETTING SECRET", " ".join(out.split()))

    def test_a_record_of_an_earlier_version(self):
        """It has no digests: what they are about is asked about once."""
        self.profile(confirm="changed")
        self.claude_files({"command": "sh"})
        self.ask(env={"HTTPS_PROXY": "http://a.example:3128"})
        kept, = (self.home / ".claudebox").rglob("approved-*")
        kept.write_text("".join(line.split("\t")[0] + "\n" for line in kept.read_text().splitlines()))
        out = self.ask(env={"HTTPS_PROXY": "http://a.example:3128"})
        for line in ("+ mcp x (its content is recorded from now on)", "+ env HTTPS_PROXY (its content is recorded from now on)"):
            self.assertIn(line, out)
        self.assertNotIn("Start?", self.ask(env={"HTTPS_PROXY": "http://a.example:3128"}, answer=None))

    def test_a_warning_that_shows_a_part_of_its_list(self):
        for number in range(7):
            (self.project / f"{number}.pem").write_text("x")
        self.ask()
        said = lambda: self.claudebox("--yes", "--exec", "true", env={"NO_COLOR": "1"}).stderr
        self.assertNotIn("look like secrets", said())
        (self.project / "6.pem").rename(self.project / "7.pem")
        self.assertRegex(said(), r"look like secrets: [^\n]* and 2\s+more")


if __name__ == "__main__":
    unittest.main()
