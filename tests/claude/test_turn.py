# SPDX-License-Identifier: MIT
"""The real Claude Code in the box, with a fake API on loopback: turns, instructions, resumed conversations."""
import json
import os
import unittest

from claude.claude import ClaudeTest


AS_ROOT = True


class Turn(ClaudeTest):
    def test_bash_tool_writes_into_the_project(self):
        done = self.turn("RUN: echo from the box > made.txt; pwd; id -u")
        self.assertIn("DONE", done.stdout)
        self.assertIn(str(self.project), done.stdout)
        self.assertEqual((self.project / "made.txt").read_text(), "from the box\n")
        self.assertEqual((self.project / "made.txt").stat().st_uid, os.getuid())

    def test_bash_tool_sees_no_secret(self):
        for name in (".ssh", ".aws"):
            (self.home / name).mkdir()
            (self.home / name / "key").write_text("CANARY-SECRET")
        done = self.turn(f"RUN: cat ~/.ssh/key ~/.aws/key {self.home}/.ssh/key; env; ls -a ~",
                         env={"GITHUB_TOKEN": "ghp_CANARY-SECRET-0123456789"})
        self.assertIn("DONE", done.stdout)
        self.assertNotIn("CANARY-SECRET", done.stdout)

    def test_bypasses_permissions(self):
        self.turn("RUN: touch a b c")
        self.assertTrue((self.project / "c").exists())

    def test_api_key_works_without_a_question(self):
        done = self.turn("hello")
        self.assertEqual(done.stdout, "ECHO hello\n")
        auth = {entry["auth"] for entry in self.messages()}
        self.assertEqual(auth, {self.api_key})

    def test_the_exit_status_is_claudes(self):
        done = self.claude("--no-such-option-of-claude")
        self.assertNotIn(done.returncode, (0, 125, 126, 127))

    def test_continue_resumes_the_conversation(self):
        self.turn("first words")
        done = self.claude("--continue", "-p", "second words")
        self.assertEqual(done.returncode, 0, done.stderr)
        sent = json.dumps(self.messages()[-1]["body"]["messages"])
        self.assertIn("first words", sent)
        self.assertIn("second words", sent)

    def test_two_projects_do_not_share_a_history(self):
        self.turn("words of the first project")
        other = self.home / "other"
        other.mkdir()
        done = self.claude("--continue", "-p", "words of the second", cwd=other)
        self.assertNotIn("words of the first project", json.dumps([entry["body"] for entry in self.messages()[-1:]]))
        self.assertNotIn("words of the first project", done.stdout)
        seen = self.box("grep -rl 'words of the first' ~ /tmp /run 2>/dev/null; true", cwd=other)
        self.assertEqual(seen, "")

    def test_worktrees_share_a_history(self):
        main = self.repository(self.home / "main")
        worktree = self.home / "worktree"
        self.git("worktree", "add", "-q", worktree, cwd=main)
        ids = {self.plan(cwd=path)["instance"] for path in (main, worktree)}
        self.assertEqual(len(ids), 1)
        self.turn("said in the main worktree", cwd=main)
        history = self.box("cat ~/.claude/projects/*/*.jsonl", cwd=worktree)
        self.assertIn("said in the main worktree", history)

    def test_two_sessions_at_once_in_one_project(self):
        one = self.start_turn("RUN: echo one > one.txt")
        two = self.start_turn("RUN: echo two > two.txt")
        for process in (one, two):
            output, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, errors)
            self.assertIn("DONE", output)
        self.assertTrue((self.project / "one.txt").exists() and (self.project / "two.txt").exists())


class Instructions(ClaudeTest):
    def request(self, words="hello", **options):
        """Returns all requests of one turn."""
        done = self.turn(words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.dumps([entry["body"] for entry in self.messages()], ensure_ascii=False)

    def test_the_instructions_describe_the_box(self):
        body = self.request()
        self.assertIn("You are in a sandbox (claudebox)", body)
        self.assertIn(f"project `{self.project}`", body)
        self.assertIn("The network is the host's own", body)

    def test_the_instructions_describe_missing_tools(self):
        body = self.request()
        self.assertIn("If a tool is missing", body)
        self.assertIn("do not retry", body)

    def test_the_users_instructions_are_included_and_unchanged(self):
        own = self.home / ".claude" / "CLAUDE.md"
        own.parent.mkdir()
        own.write_text("OWN-INSTRUCTIONS of the user\n")
        body = self.request()
        self.assertIn("OWN-INSTRUCTIONS of the user", body)
        self.assertIn("You are in a sandbox (claudebox)", body)
        self.assertEqual(own.read_text(), "OWN-INSTRUCTIONS of the user\n")

    def test_rules_skills_commands_and_agents_are_available(self):
        files = {
            "rules/own.md": "OWN-RULE text\n",
            "skills/tidy/SKILL.md": "---\nname: tidy\ndescription: OWN-SKILL tidies\n---\nTidy up.\n",
            "commands/greet.md": "OWN-COMMAND says $ARGUMENTS\n",
            "agents/critic.md": "---\nname: critic\ndescription: OWN-AGENT criticises\n---\nBe strict.\n",
        }
        for name, text in files.items():
            path = self.home / ".claude" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        body = self.request()
        self.assertIn("OWN-RULE", body)
        self.assertIn("OWN-SKILL", body)
        self.assertIn("OWN-AGENT", body)
        self.assertIn("OWN-COMMAND says zed", self.turn("/greet zed").stdout)

    def test_a_plugin_with_secrets_around_it_works(self):
        """Such a directory is mounted entry by entry, without the secrets."""
        plugins = self.home / ".claude" / "plugins"
        market, cache = plugins / "marketplaces/corp", plugins / "cache/corp/one/1.0.0"
        token = "gh" + "p_" + "k3Rz9QmV1xT7bN5cY8wL2pD4sF6hJ0aG1eU3"
        plugin = {".claude-plugin/plugin.json": {"name": "one", "version": "1.0.0", "description": "d"},
                  ".mcp.json": {"mcpServers": {"db": {"command": "true", "env": {"DB_PASSWORD": token}}}}, ".env": f"X={token}",
                  "skills/polish/SKILL.md": "---\nname: polish\ndescription: PLUGIN-SKILL polishes\n---\nPolish.\n"}
        files = {plugins / "known_marketplaces.json": {"corp": {"source": {"source": "git", "url": f"https://{token}@github.com/a/b"},
                                                                "installLocation": str(market), "lastUpdated": "2026-01-01T00:00:00.000Z"}},
                 plugins / "installed_plugins.json": {"version": 2, "plugins": {"one@corp": [
                     {"scope": "user", "installPath": str(cache), "version": "1.0.0", "installedAt": "2026-01-01T00:00:00.000Z",
                      "lastUpdated": "2026-01-01T00:00:00.000Z"}]}},
                 plugins.parent / "settings.json": {"enabledPlugins": {"one@corp": True}},
                 market / ".claude-plugin/marketplace.json": {"name": "corp", "owner": {"name": "x"},
                                                              "plugins": [{"name": "one", "source": "./one", "description": "d"}]},
                 market / ".git/config": token}
        for place in (market / "one", cache):
            files |= {place / name: content for name, content in plugin.items()}
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        self.assertIn("PLUGIN-SKILL", self.request())
        self.assertNotIn(token, self.box("cat ~/.claude/plugins/*.json; grep -r . ~/.claude/plugins/ ~/.claude/*.json"))

    def test_the_projects_instructions_are_included(self):
        (self.project / "CLAUDE.md").write_text("PROJECT-INSTRUCTIONS\n")
        self.assertIn("PROJECT-INSTRUCTIONS", self.request())

    def test_settings_are_filtered(self):
        settings = {"env": {"BASH_MAX_OUTPUT_LENGTH": "4711", "PLAIN_SETTING": "hidden", "MY_API_TOKEN": "CANARY-1"}, "apiKeyHelper": "/bin/echo CANARY-2",
                    "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "/home/nobody/x.sh CANARY-3"}]}]}}
        (self.home / ".claude").mkdir()
        (self.home / ".claude" / "settings.json").write_text(json.dumps(settings))
        done = self.turn("RUN: env; cat ~/.claude/settings.json")
        self.assertIn("BASH_MAX_OUTPUT_LENGTH=4711", done.stdout)
        self.assertNotIn("PLAIN_SETTING", done.stdout)
        for number in (1, 2, 3):
            self.assertNotIn(f"CANARY-{number}", done.stdout)


if __name__ == "__main__":
    unittest.main()
