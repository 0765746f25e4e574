# SPDX-License-Identifier: MIT
"""The user's MCP servers in the box, with the real Claude Code: the same ones as outside, as far as the box can run them."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from claude.claude import ClaudeTest

SERVER = pathlib.Path(__file__).resolve().parent.parent / "lib" / "mcp_server.py"


class ServersTest(ClaudeTest):
    def setUp(self):
        super().setUp()
        self.tools = self.home / "tools"
        self.tools.mkdir()
        shutil.copy(SERVER, self.tools / "server.py")

    def server(self, *arguments, **more):
        # Otherwise newer versions send the names of tools only.
        return {"alwaysLoad": True, "type": "stdio", "command": "python3", "args": [str(self.tools / "server.py"), *arguments], **more}

    def account(self, user=None, local=None, project=None, **more):
        """Writes the host's .claude.json."""
        projects = {str(project or self.project): {"mcpServers": local}} if local is not None else {}
        (self.home / ".claude.json").write_text(json.dumps({"mcpServers": user or {}, "projects": projects, **more}))

    def outside(self, *arguments, cwd=None):
        """Runs claude on the host."""
        command = [os.environ[self.kind]] if self.kind == "CLAUDE_NEW" else ["node", os.environ[self.kind]]
        return subprocess.run([*command, *arguments], cwd=cwd or self.project, env=self.env | {"DISABLE_AUTOUPDATER": "1"}, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)

    def listed(self, *options, **more):
        """Returns the names in `claude mcp list` in the box."""
        done = self.claude(*options, "mcp", "list", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(line.split(":")[0] for line in done.stdout.splitlines() if "Connected" in line)

    def look(self, name, *options, **more):
        """Calls the tool of a server in a turn, and returns what the server sees."""
        done = self.claude(*options, "-p", f"CALL: mcp__{name}__look", **more)
        self.assertIn("DONE {", done.stdout, done.stderr)
        return json.loads(done.stdout.partition("DONE ")[2])


class Servers(ServersTest):
    def test_a_turn_uses_a_server_of_the_user_and_one_of_the_project(self):
        self.account({"mine": self.server("a", env={"MCP_MODE": "fast"})}, {"ours": self.server("b")})
        self.assertEqual(self.look("mine", "--mount-ro", self.tools), {"arguments": ["a"], "variables": {"MCP_MODE": "fast"}})
        self.assertEqual(self.look("ours", "--mount-ro", self.tools)["arguments"], ["b"])
        names = {tool["name"] for entry in self.messages() for tool in entry["body"].get("tools") or []}
        self.assertLessEqual({"mcp__mine__look", "mcp__ours__look"}, names)

    def test_list_and_get_are_the_same_as_outside(self):
        self.account({"mine": self.server("a")}, {"ours": self.server("b")})
        outside = self.outside("mcp", "get", "mine").stdout
        self.assertIn("mine", outside)
        self.assertEqual(self.listed("--mount-ro", self.tools), ["mine", "ours"])
        self.assertEqual(self.claude("--mount-ro", self.tools, "mcp", "get", "mine").stdout, outside)

    def test_a_server_follows_the_host_and_the_box_keeps_its_own(self):
        options = ("--mount-ro", self.tools)
        self.account({"one": self.server(), "two": self.server()})
        self.assertEqual(self.listed(*options), ["one", "two"])
        done = self.claude(*options, "mcp", "add", "-s", "user", "own", "--", "python3", str(self.tools / "server.py"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("MCP server 'own': added for the boxes of this project only.", " ".join(done.stderr.split()))
        self.claude(*options, "mcp", "remove", "-s", "user", "two")
        self.account({"two": self.server(), "three": self.server()})
        self.assertEqual(self.listed(*options), ["own", "three"])
        self.assertNotIn("own", (self.home / ".claude.json").read_text())
        self.account({"two": self.server()})
        plan = self.plan(*options)
        self.assertEqual([row["name"] for row in plan["mcp_servers"] if row["scope"] == "box"], ["own"])
        self.assertIn(("MCP server 'two'", "removed in a box; `claude mcp add` in a box brings it back"),
                      [(row["what"], row["why"]) for row in plan["left_out"]])
        self.assertRegex(self.claude(*options, "--audit=full", "mcp", "list").stderr, r"\[~\] own \(added in a box\)")

    def test_a_removal_is_kept_over_starts_that_leave_the_server_out(self):
        options = ("--mount-ro", self.tools)
        self.account({"one": self.server(), "two": self.server()}, {"three": self.server()})
        self.assertEqual(self.listed(*options), ["one", "three", "two"])
        for scope, name, left in (("user", "two", ["one", "three"]), ("local", "three", ["one"]), ("user", "one", [])):
            with self.subTest(name=name):
                done = self.claude(*options, "mcp", "remove", "-s", scope, name)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"MCP server '{name}': removed for the boxes of this project only.", " ".join(done.stderr.split()))
                self.assertEqual(self.listed("--network", "none"), [])  # no server can run there
                self.assertEqual(self.listed(), [])
                self.assertEqual(self.listed(*options), left)
        self.claude(*options, "mcp", "add", "-s", "user", "two", "--", "python3", str(self.tools / "server.py"))
        self.assertEqual(self.listed(*options), ["two"])

    def test_a_server_whose_script_is_not_mounted_is_named(self):
        self.account({"mine": self.server()})
        done = self.claude("--audit=full", "mcp", "list")
        self.assertNotIn("mine", done.stdout)
        self.assertIn("MCP server 'mine' (~/tools/server.py is not in the box): --mount-ro ~/tools", " ".join(done.stderr.split()))

    def test_a_secret_variable_comes_only_by_its_name(self):
        secret = "hunter2-" + "x7Q9" * 6
        self.account({"mine": self.server(env={"MCP_API_KEY": secret})})
        done = self.claude("--audit=full", "--mount-ro", self.tools, "mcp", "list")
        self.assertNotIn("mine", done.stdout)
        names = f"{self.env['CLAUDEBOX_EXTRA_ENV']},MCP_API_KEY"
        self.assertIn(f"MCP server 'mine' (uses a secret: MCP_API_KEY): CLAUDEBOX_EXTRA_ENV={names}",
                      " ".join(done.stderr.split()))
        self.profile(extra_env_passthrough=["MCP_API_KEY"])
        self.assertEqual(self.look("mine", "--mount-ro", self.tools)["variables"], {"MCP_API_KEY": secret})
        for path in (self.home / ".claudebox").rglob("*.json"):  # the conversation has what the tool returned
            self.assertNotIn(secret, path.read_text(errors="replace") if path.is_file() else "", path)

    def test_a_reference_is_expanded_in_the_box(self):
        self.account({"mine": self.server("${MCP_PLACE:-nowhere}", env={"MCP_B": "${MCP_A}"})})
        done = self.claude("--audit=full", "--mount-ro", self.tools, "mcp", "list", env={"MCP_A": "value"})
        self.assertIn("MCP server 'mine' (uses a variable: MCP_A)", " ".join(done.stderr.split()))
        seen = self.look("mine", "--mount-ro", self.tools, env={"MCP_A": "value", "CLAUDEBOX_EXTRA_ENV": "ANTHROPIC_BASE_URL,MCP_A"})
        self.assertEqual(seen, {"arguments": ["nowhere"], "variables": {"MCP_A": "value", "MCP_B": "value"}})

    def test_strict_and_own_configuration_mean_what_they_mean_outside(self):
        self.account({"mine": self.server()})
        (self.project / "other.json").write_text(json.dumps({"mcpServers": {"other": self.server("o")}}))
        self.assertEqual(self.look("mine", "--mount-ro", self.tools, "--mcp-config", "other.json")["arguments"], [])
        self.api.requests.clear()
        self.assertEqual(self.look("other", "--mount-ro", self.tools, "--mcp-config", "other.json", "--strict-mcp-config")["arguments"], ["o"])
        names = {tool["name"] for entry in self.messages() for tool in entry["body"].get("tools") or []}
        self.assertNotIn("mcp__mine__look", names)

    def test_the_servers_of_a_repository_come_in_its_worktrees_and_directories(self):
        main = self.repository(self.home / "main")
        (main / "sub").mkdir()
        worktree = self.home / "worktree"
        self.git("worktree", "add", "-q", worktree, cwd=main)
        self.account(local={"ours": self.server()}, project=main)
        for place in (main, main / "sub", worktree):
            with self.subTest(place=place):
                self.assertIn("Connected", self.outside("mcp", "list", cwd=place).stdout)
                self.assertEqual(self.listed("--mount-ro", self.tools, cwd=place), ["ours"])

    def test_a_theme_comes_along_and_one_chosen_in_the_box_stays(self):
        self.account(theme="light-daltonized", verbose=True)
        self.turn("hello")
        account = json.loads(self.box("cat ~/.claude/.claude.json"))
        self.assertEqual((account["theme"], account["verbose"]), ("light-daltonized", True))
        self.account(theme="dark", verbose=True)
        self.turn("hello")
        self.assertEqual(json.loads(self.box("cat ~/.claude/.claude.json"))["theme"], "dark")
        self.box("sed -i 's/\"theme\": \"dark\"/\"theme\": \"light\"/' ~/.claude/.claude.json")
        self.account(theme="dark-daltonized")
        self.turn("hello")
        account = json.loads(self.box("cat ~/.claude/.claude.json"))
        self.assertEqual((account["theme"], account.get("verbose")), ("light", None))


class ServersOfCliJs(ServersTest):
    kind = "CLAUDE_OLD"

    def test_a_turn_uses_a_server_of_the_user_and_one_of_the_project(self):
        self.account({"mine": self.server("a", env={"MCP_B": "${MCP_NONE:-d}"})}, {"ours": self.server("b")})
        self.assertEqual(self.look("mine", "--mount-ro", self.tools), {"arguments": ["a"], "variables": {"MCP_B": "d"}})
        self.assertEqual(self.look("ours", "--mount-ro", self.tools)["arguments"], ["b"])

    def test_a_server_added_in_the_box_stays_there(self):
        self.account({"one": self.server()})
        done = self.claude("--mount-ro", self.tools, "mcp", "add", "-s", "user", "own", "--", "python3", str(self.tools / "server.py"))
        self.assertIn("added for the boxes of this project only", " ".join(done.stderr.split()))
        self.account({})
        self.assertEqual(self.listed("--mount-ro", self.tools), ["own"])


del ClaudeTest, ServersTest

if __name__ == "__main__":
    unittest.main()
