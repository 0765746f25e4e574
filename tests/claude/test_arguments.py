# SPDX-License-Identifier: MIT
"""Claude's own arguments with paths have the same effect in a box as outside, with the real Claude Code."""
import json
import os
import re
import subprocess
import unittest

from claude.claude import ClaudeTest
from lib.box import GIVEN

AS_ROOT = ("test_add_dir_lets_claude_read_the_directory", "test_an_MCP_server_of_a_file_is_started", "test_claude_on_PATH_is_the_same_version")
# An MCP server with one tool.
SERVER = r"""
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    answers = {"initialize": {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "own", "version": "1"}},
               "tools/list": {"tools": [{"name": "own_tool_7204", "description": "x", "inputSchema": {"type": "object"}}]}}
    if "id" in ask:
        print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], "result": answers.get(ask["method"], {})}), flush=True)
"""


class Arguments(ClaudeTest):
    def setUp(self):
        super().setUp()
        self.other = self.home / "other"
        self.other.mkdir()

    def asked(self, *arguments, words="hello", **options):
        """Runs a turn and returns (output, all requests of the model as text)."""
        done = self.claude(*arguments, "-p", words, **options)
        self.assertEqual(done.returncode, 0, done.stderr[-600:] + done.stdout)
        return done.stdout, json.dumps([entry["body"] for entry in self.messages()])

    def test_add_dir_lets_claude_read_the_directory(self):
        (self.other / "note.txt").write_text("words-of-the-note\n")
        look = f"RUN: cat {self.other}/note.txt; touch {self.other}/new"
        out, body = self.asked("--add-dir", "../other", words=look)
        self.assertIn("words-of-the-note", out)
        self.assertFalse((self.other / "new").exists())
        self.assertIn(f"{self.other}", body)
        self.assertNotIn("words-of-the-note", self.asked(words=look)[0])

    def test_settings_of_a_file_have_an_effect(self):
        settings = self.other / "mine.json"
        settings.write_text(json.dumps({"env": {"OWN_SETTING": "set-7204"}}))
        self.assertIn("[set-7204]", self.asked("--settings", settings, words="RUN: echo [$OWN_SETTING]")[0])
        self.assertNotIn("set-7204", self.asked(words="RUN: echo [$OWN_SETTING]")[0])

    def test_settings_in_the_hosts_claude_directory_have_an_effect(self):
        settings = self.home / ".claude" / "alternative" / "mine.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"env": {"OWN_SETTING": "set-7204"}}))
        self.assertIn("[set-7204]", self.asked("--settings", settings, words="RUN: echo [$OWN_SETTING]")[0])

    def test_an_MCP_server_of_a_file_is_started(self):
        server = self.other / "server.py"
        server.write_text(SERVER)
        config = self.other / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"own": {"command": "/usr/bin/python3", "args": [str(server)]}}}))
        _, body = self.asked("--add-dir", self.other, "--mcp-config", config, "--strict-mcp-config")
        self.assertIn("own_tool_7204", body)

    def test_prompts_of_files_reach_the_model(self):
        (self.other / "more.md").write_text("APPENDED-7204")
        (self.other / "whole.md").write_text("WHOLE-7204")
        self.assertIn("APPENDED-7204", self.asked("--append-system-prompt-file", self.other / "more.md")[1])
        self.assertIn("WHOLE-7204", self.asked("--system-prompt-file", self.other / "whole.md")[1])

    def test_a_plugin_of_a_directory_is_loaded(self):
        plugin = self.other / "plugin"
        for name, text in {".claude-plugin/plugin.json": json.dumps({"name": "own", "version": "1.0.0", "description": "x"}),
                           "skills/tidy/SKILL.md": "---\nname: tidy\ndescription: OWN-SKILL-7204 tidies\n---\nTidy up.\n"}.items():
            (plugin / name).parent.mkdir(parents=True, exist_ok=True)
            (plugin / name).write_text(text)
        self.assertIn("OWN-SKILL-7204", self.asked("--plugin-dir", plugin)[1])

    def test_an_offered_import_works_as_outside(self):
        (self.other / "style.md").write_text("STYLE-7204")
        own = self.home / ".claude" / "CLAUDE.md"
        own.parent.mkdir()
        own.write_text("@~/other/style.md\n")
        self.assertNotIn("STYLE-7204", self.asked()[1])
        row = self.plan("-p", "x")["left_out"][0]
        self.assertEqual(row["option"], "--mount-ro ~/other/style.md")
        self.assertIn("STYLE-7204", self.asked(*row["option"].split())[1])

    def test_claude_on_PATH_is_the_same_version(self):
        expected = self.claudebox("--yes", "--", "--version").stdout
        self.assertRegex(expected, r"^\d+\.\d+\.\d+ ")
        self.assertEqual(self.box("claude --version"), expected)
        self.assertEqual(self.claudebox("--yes", "--shell", "-c", "claude --version").stdout, expected)
        self.assertIn(expected.split()[0], self.turn("RUN: claude --version").stdout)

    def test_a_subcommand_gets_all_of_its_words(self):
        done = self.claudebox("--yes", "--unprotect", ".mcp.json", "mcp", "add", "-s", "project", "own", "--", "/bin/own-server", "--yes", "--", "-v")
        self.assertEqual(done.returncode, 0, done.stderr[-600:] + done.stdout)
        server = json.loads((self.project / ".mcp.json").read_text())["mcpServers"]["own"]
        self.assertEqual((server["command"], server["args"]), ("/bin/own-server", ["--yes", "--", "-v"]))

    def test_a_prompt_after_two_dashes(self):
        self.assertEqual(self.claude("-p", "--", "--yes").stdout, "ECHO --yes\n")

    def test_every_option_of_the_help_text_is_known(self):
        """claudebox's table has the options and sub-commands of this version: none is a misspelled option of claudebox."""
        text = self.claudebox("--yes", "--", "--help").stdout
        options = set(re.findall(r"^ +(?:-\w, )?(--[a-zA-Z-]+)", text, re.M))
        self.assertGreater(len(options), 40)
        unknown = [option for option in options - {"--bg", "--help", "--version"}
                   if self.claudebox("--dry-run=json", option, "x").returncode == 2]
        self.assertEqual(unknown, [])
        self.fake_claude()
        commands = re.findall(r"^  ([a-z-]+)(?:\|([a-z-]+))?[ \n]", text.split("\nCommands:\n")[1], re.M)
        for name in {name for names in commands for name in names if name}:
            done = self.claudebox("--yes", name, "--netwrok", env={"CLAUDEBOX_CLAUDE": str(self.home / "bin" / "claude")})
            self.assertIn((done.returncode, done.stdout if done.returncode == 0 else "is not passed to claude" in done.stderr),
                          ((0, f"{GIVEN}<{name}><--netwrok>\n"), (2, True)), name)


class OldArguments(Arguments):
    kind = "CLAUDE_OLD"


class Outside(ClaudeTest):
    """What claude does with such words outside of a box: the reason for the answers of claudebox."""

    def outside(self, *arguments):
        env = self.env | {"DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1", "CLAUDE_CODE_SANDBOXED": "1"}
        return subprocess.run([os.environ[self.kind], *arguments], cwd=self.project, env=env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=60).stdout

    def test_a_session_command_behind_an_option_is_a_prompt(self):
        self.assertIn("ECHO logs", self.outside("--dangerously-skip-permissions", "-p", "logs"))
        self.assertIn("No job matching", self.outside("logs", "x"))

    def test_a_subcommand_with_print_is_a_prompt(self):
        self.assertIn("ECHO mcp", self.outside("-p", "mcp"))
        self.assertNotIn("ECHO", self.outside("mcp", "list"))


del ClaudeTest

if __name__ == "__main__":
    unittest.main()
