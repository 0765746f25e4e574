# SPDX-License-Identifier: MIT
"""The user's MCP servers, preferences, hooks and status line: what can work in this box comes along, the rest is named, and no secret
is in the box. The values are generated, so that no scanner of repositories finds a token here."""
import base64
import json
import os
import time
import unittest
import urllib.parse

from box.test_claude_files import SEARCH, secret, text, token
from box.test_state import StateTest


AS_ROOT = True


class ServersTest(StateTest):
    def setUp(self):
        super().setUp()
        self.tools = self.home / "tools"
        self.tools.mkdir()
        self.script = self.program(self.tools / "server")

    def program(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\nexit 0\n")
        path.chmod(0o755)
        return path

    def account(self, user=None, local=None, **more):
        self.write(self.home / ".claude.json", {"mcpServers": user if user is not None else {},
                                                "projects": {str(self.project): {"mcpServers": local or {}}}, **more})

    def result(self, *options, **more):
        """Returns the names of the servers that come along, and a line for each thing that does not."""
        plan = self.plan(*options, **more)
        return [row["name"] for row in plan.get("mcp_servers", [])], self.lacks(plan)

    @staticmethod
    def lacks(plan):
        return {row["what"]: (row["why"], row["option"]) for row in plan["left_out"]}


class Servers(ServersTest):
    def test_a_program_comes_with_its_mount(self):
        self.account({"x": {"command": str(self.script)}})
        names, lacks = self.result()
        self.assertEqual((names, lacks["MCP server 'x'"]), ([], ("its program ~/tools/server is not in the box", "--path ~/tools")))
        for options in (("--path", "~/tools"), ("--mount-ro", self.tools), ("--mount-rw", self.tools), ("--mount-ro", self.script)):
            with self.subTest(options=options):
                names, lacks = self.result(*options)
                self.assertEqual((names, lacks.get("MCP server 'x'")), (["x"], None))
        self.profile(mounts=[{"host": str(self.tools)}])
        self.assertEqual(self.result()[0], ["x"])

    def test_the_named_option_brings_a_program_of_path(self):
        self.account({"x": {"command": "server"}, "y": {"command": "no-such-program-anywhere"}, "z": {"command": "sh", "args": ["-c", "x"]}})
        env = {"PATH": f"{self.tools}:{self.env['PATH']}"}
        names, lacks = self.result(env=env)
        self.assertEqual(names, ["z"])
        self.assertEqual(lacks["MCP server 'x'"], ("its program ~/tools/server is not in the box", "--path ~/tools"))
        self.assertEqual(lacks["MCP server 'y'"], ("its program no-such-program-anywhere is not in the box", None))
        self.assertEqual(self.result("--path", "~/tools", env=env)[0], ["x", "z"])
        seen = self.claudebox("--yes", "--path", "~/tools", "--exec", "sh", "-c", "server && echo works", env=env)
        self.assertEqual(seen.stdout, "works\n")

    def test_programs_of_toolchains(self):
        node = self.home / ".nvm" / "versions" / "node" / "v20.0.0"
        self.program(node / "lib" / "node_modules" / "npm" / "bin" / "npx-cli.js")
        (node / "bin").mkdir()
        (node / "bin" / "mcp-npx").symlink_to("../lib/node_modules/npm/bin/npx-cli.js")
        self.program(node / "bin" / "node")
        self.program(self.home / ".local" / "bin" / "uv")
        self.program(self.home / ".local" / "bin" / "uvx")
        self.account({"npx": {"command": "mcp-npx", "args": ["-y", "x"]}, "uvx": {"command": "uvx", "args": ["x"]},
                      "path": {"command": str(node / "bin" / "mcp-npx")}})
        env = {"PATH": f"{node}/bin:{self.home}/.local/bin:{self.env['PATH']}"}
        self.assertEqual(self.result(env=env)[0], ["npx", "uvx", "path"])
        self.profile(toolchains=[])
        self.assertEqual(self.result(env=env)[0], [])

    def test_an_argument_that_is_a_file_must_be_in_the_box(self):
        data = self.home / "data"
        data.mkdir()
        self.account({"file": {"command": "sh", "args": [str(self.script)]}, "directory": {"command": "sh", "args": ["--root", str(data)]},
                      "option": {"command": "sh", "args": [f"--root={data}"]}, "home": {"command": "sh", "args": ["${HOME}/data"]},
                      "project": {"command": "sh", "args": [str(self.project / "later.py"), "./x", "/no/such/file", "--flag"]}})
        names, lacks = self.result()
        self.assertEqual(names, ["project"])
        self.assertEqual(lacks["MCP server 'file'"], ("~/tools/server is not in the box", "--mount-ro ~/tools"))
        for name in ("directory", "option", "home"):
            self.assertEqual(lacks[f"MCP server '{name}'"], ("~/data is not in the box", "--mount-ro ~/data"))
        self.assertEqual(self.result("--mount-ro", data, "--mount-ro", self.tools)[0], ["file", "directory", "option", "home", "project"])

    def test_all_that_a_server_lacks_is_named_at_once(self):
        data, other = self.home / "data", self.home / "other" / "x.db"
        data.mkdir()
        self.write(other, "")
        self.account({"x": {"command": str(self.script), "args": [str(data), f"--db={other}", str(self.tools / "server")]}})
        names, lacks = self.result()
        self.assertEqual((names, lacks["MCP server 'x'"]), ([], (
            "its program ~/tools/server is not in the box, ~/data is not in the box, ~/other/x.db is not in the box, ~/tools/server is not in the box",
            "--path ~/tools --mount-ro ~/data --mount-ro ~/other")))
        self.assertEqual(self.result(*lacks["MCP server 'x'"][1].split())[0], ["x"])

    def test_paths_in_the_script_of_a_shell_are_looked_at(self):
        for command, args in (("bash", ["-c", f"cd /tmp && exec {self.script} --fast"]), ("sh", ["-ec", "~/tools/server"]),
                              ("/bin/sh", ["-c", f"FOO=1 '{self.script}'; true"]), ("bash", ["-lc", "sh -c '$HOME/tools/server'"])):
            with self.subTest(command=command, args=args):
                self.account({"x": {"command": command, "args": args}})
                names, lacks = self.result()
                self.assertEqual((names, lacks["MCP server 'x'"]), ([], ("~/tools/server is not in the box", "--mount-ro ~/tools")))
                self.assertEqual(self.result("--mount-ro", "~/tools")[0], ["x"])
        self.account({"x": {"command": "bash", "args": ["-c", "echo /no/such/file"]}})
        self.assertEqual(self.result()[0], ["x"])

    def test_docker_cannot_run(self):
        docker = self.program(self.tools / "docker")
        for command in ("docker", str(docker)):
            with self.subTest(command=command):
                self.account({"x": {"command": command, "args": ["run", "-i", "--rm", "mcp/fetch"]}})
                names, lacks = self.result("--path", "~/tools")
                self.assertEqual((names, lacks["MCP server 'x'"]),
                                 ([], ("its program docker cannot run: the box has no Docker service", None)))
        self.account({"x": {"command": "sh", "args": ["-c", "docker run -i mcp/fetch"]}})
        self.assertEqual(self.result("--path", "~/tools")[0], [])

    def test_a_link_into_a_secret_place_is_not_followed(self):
        self.program(self.home / ".ssh" / "server")
        (self.tools / "mcp-link").symlink_to(self.home / ".ssh" / "server")
        self.account({"x": {"command": str(self.tools / "mcp-link")}, "y": {"command": "sh", "args": [str(self.home / ".ssh" / "server")]},
                      "z": {"command": "mcp-link"}, "all": {"command": "sh", "args": [str(self.home)]}})
        env = {"PATH": f"{self.tools}:{self.env['PATH']}"}
        for options in ((), ("--mount-ro", self.tools), ("--path", self.tools)):
            with self.subTest(options=options):
                names, lacks = self.result(*options, env=env)
                self.assertEqual(names, [])
                self.assertEqual([lacks[f"MCP server '{name}'"][1] for name in ("x", "y", "z", "all")], [None] * 4)
                self.assertIn("secret place", lacks["MCP server 'x'"][0])
        self.assertIn("No such file", self.claudebox("--yes", "--mount-ro", self.tools, "--exec", "cat", self.tools / "mcp-link").stderr)

    def test_a_link_to_a_file_elsewhere_needs_that_file(self):
        other = self.program(self.home / "other" / "server")
        (self.tools / "link").symlink_to(other)
        self.account({"x": {"command": str(self.tools / "link")}})
        names, lacks = self.result("--mount-ro", self.tools)
        self.assertEqual((names, lacks["MCP server 'x'"]), ([], ("its program ~/tools/link is not in the box", "--path ~/other")))
        self.assertEqual(self.result("--mount-ro", self.tools, "--path", "~/other")[0], ["x"])

    def test_addresses_that_the_tier_reaches(self):
        def server(url):
            return {"type": "http", "url": url}
        servers = {"public": server("https://mcp.example.com/mcp"), "own": server("http://localhost:8123/mcp"),
                   "own4": server("http://127.0.0.9:8123/"), "own6": server("http://[::1]:8123/"), "lan": server("http://192.168.1.7/"),
                   "name": server("http://printer.local/sse"), "short": server("http://build:80/"), "ula": {"type": "sse", "url": "http://[fd00::1]/x"}}
        self.account(servers)
        self.assertEqual(self.result()[0], list(servers))
        names, lacks = self.result("--network", "none")
        self.assertEqual((names, lacks["MCP server 'public'"]), ([], ("the box has no network", "--network inet")))
        self.assertEqual(lacks["MCP server 'own'"][1], "--network inet --host-port 8123")
        self.assertEqual(lacks["MCP server 'lan'"][1], "--network full")

    def test_servers_of_the_user_and_of_this_project_only(self):
        other = self.home / "other"
        other.mkdir()
        self.write(self.home / ".claude.json", {"mcpServers": {"mine": {"command": "sh"}, "off": {"command": "sh"}}, "projects": {
            str(other): {"mcpServers": {"foreign": {"command": "sh"}}}, str(self.project) + "/": {"mcpServers": {"slash": {"command": "sh"}}},
            str(self.home): {"mcpServers": {"above": {"command": "sh"}}}, str(self.project / "sub"): {"mcpServers": {"below": {"command": "sh"}}},
            str(self.project): {"mcpServers": {"ours": {"command": "sh"}, "mine": {"command": "sh", "args": ["local"]}},
                                "disabledMcpServers": ["off"]}}})
        rows = self.plan()["mcp_servers"]
        self.assertEqual([(row["name"], row["scope"]) for row in rows], [("mine", "user"), ("ours", "local"), ("mine", "local")])
        account = json.loads(self.box("cat ~/.claude/.claude.json"))
        self.assertEqual(list(account["mcpServers"]), ["mine"])
        self.assertEqual(list(account["projects"]), [str(self.project)])

    def test_a_repository_cannot_claim_the_servers_of_another_project(self):
        victim = self.repository(self.home / "victim")
        self.write(self.home / ".claude.json", {"projects": {str(victim): {"mcpServers": {"theirs": {"command": "sh"}}}}})
        for content in (f"gitdir: {victim}/.git", f"gitdir: {victim}/.git/worktrees/x"):
            self.write(self.project / ".git", content + "\n")
            self.assertEqual(self.result()[0], [])

    def test_the_repositorys_servers_are_no_grant(self):
        self.account({"mine": {"command": "sh"}})
        server = {"command": str(self.script), "env": {"X": "${HOME}"}}
        for name in (".mcp.json", ".claude.json", ".claude/.claude.json", ".claude/settings.json"):
            self.write(self.project / name, {"mcpServers": {"evil": server}})
        plan = self.plan()
        self.assertEqual([row["name"] for row in plan["mcp_servers"]], ["mine"])
        self.assertNotIn(str(self.tools), json.dumps(plan["mounts"]))
        self.assertNotIn("MCP server 'evil'", self.lacks(plan))
        self.assertNotIn("evil", self.box("cat ~/.claude/.claude.json"))

    def test_the_audit_names_each_server_and_the_approval_notes_a_new_one(self):
        self.account({"one": {"command": "sh"}}, {"two": {"type": "http", "url": "https://mcp.example.com/"}})
        done = self.claudebox("--yes", "--audit=full", "--exec", "true")
        self.assertIn("[>] one (yours, a program in the box)", done.stderr)
        self.assertIn("[>] two (this project's, by its address)", done.stderr)
        self.write(self.instance() / f"approved-{self.instance().name}", "network full\nmcp one\nmcp three\n")
        changes = self.plan()["changes"]
        self.assertIn("+ mcp two (this project)", changes)
        self.assertIn("- mcp three", changes)
        self.assertNotIn("+ mcp one", changes)


class Secrets(ServersTest):
    def planted(self, servers, *options):
        """Starts a box with these servers. Checks that none is there with its secrets, and returns what is said."""
        self.account(servers)
        done = self.claudebox("--yes", "--audit=full", *options, "--exec", "python3", "-c", SEARCH, stdin=None, input=json.dumps(self.values))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        said = " ".join(done.stderr.split())
        whole = json.dumps(self.plan(*options))
        for value in self.values:
            self.assertNotIn(value, said)
            self.assertNotIn(value, whole)
        return said

    def setUp(self):
        super().setUp()
        self.values = []

    def test_a_secret_a_variable_and_a_path_are_named_at_once(self):
        value = self.plant(token())
        self.account({"x": {"command": str(self.script), "args": ["${NOTES}/a.md"], "env": {"API_KEY": value, "OTHER_TOKEN": self.plant(token())}}})
        self.write(self.home / "notes" / "a.md", "x")
        env = {"NOTES": str(self.home / "notes"), "CLAUDEBOX_EXTRA_ENV": "LC_X, API_KEY_2"}
        lack = self.result(env=env)[1]["MCP server 'x'"]
        self.assertEqual(lack, ("uses a secret: API_KEY, OTHER_TOKEN, uses a variable: NOTES, its program ~/tools/server is not in the box, ~/notes/a.md is not in the box",
                                "CLAUDEBOX_EXTRA_ENV=LC_X,API_KEY_2,API_KEY,OTHER_TOKEN,NOTES claudebox --path ~/tools --mount-ro ~/notes"))
        names, options = lack[1].split(" claudebox ")
        self.assertEqual(self.result(*options.split(), env={**env, "CLAUDEBOX_EXTRA_ENV": names.split("=")[1]})[0], ["x"])

    def test_reasons_show_no_secret(self):
        value = self.plant(token())
        self.account({"x": {"command": "${MY_TOKEN}", "args": ["/srv/${MY_TOKEN}", "--token", value], "env": {"A_KEY": self.plant(token())}},
                      "y": {"command": "${MY_TOKEN}", "args": [f"{self.home}/${{MY_TOKEN}}"]}})
        env = {"MY_TOKEN": value, "CLAUDEBOX_EXTRA_ENV": "OTHER"}
        lacks = self.result(env=env)[1]
        self.assertEqual(lacks["MCP server 'x'"], ("uses a secret: A_KEY, args[2] looks like a secret",
                                                   "write ${NAME} in its place, with CLAUDEBOX_EXTRA_ENV=OTHER,A_KEY,NAME"))
        self.assertNotIn(value, json.dumps(lacks))

    def plant(self, value):
        self.values.append(value)
        return value

    def test_odd_spellings(self):
        plant = self.plant
        hidden = plant(token())
        servers = {
            "env": {"env": {"GITHUB_TOKEN": plant(token())}}, "short": {"env": {"DB_PASS": plant(text(14))}},
            "neutral": {"env": {"COMPANY": plant(secret(40))}}, "glued": {"env": {"X": "${HOME}" + plant(token())}},
            "default": {"env": {"DB_PASSWORD": "${DB_PASSWORD:-" + plant(text(14)) + "}"}},
            "default-argument": {"args": ["--password", "${PW:-" + plant(text(14)) + "}"]},
            "after": {"args": ["--token", plant(text(20))]}, "equals": {"args": ["--api-key=" + plant(text(20))]},
            "plural": {"args": ["--tokens", plant(text(14) + "4q")]}, "plural-equals": {"args": ["--access-tokens=" + plant(text(14) + "4q")]},
            "plural-passwords": {"args": ["--db-pwds", plant(text(14) + "4q")]},
            "assigned": {"args": ["-c", "API_KEY=" + plant(secret(30)) + " exec server"]}, "lonely": {"args": [plant(secret(40))]},
            "mysql": {"command": "mysql", "args": ["-p" + plant(text(12))]}, "command": {"command": "sh " + plant(token())},
            "dsn": {"args": ["postgresql://me:" + plant(text(12)) + "@db.example.com/x"]},
            "json": {"args": [json.dumps({"password": plant(text(14))})]},
            "basic": {"args": ["Authorization: Basic " + plant(base64.b64encode(b"user:" + secret(20).encode()).decode())]},
            "header": {"url": "https://a.example.com/", "headers": {"X-Thing": plant(text(30))}},
            "accept": {"url": "https://a.example.com/", "headers": {"Accept": plant(secret(24))}},
            "agent": {"url": "https://a.example.com/", "headers": {"User-Agent": plant(secret(24))}},
            "agent-version": {"url": "https://a.example.com/", "headers": {"User-Agent": "agent/" + plant(secret(24))}},
            "bearer": {"url": "https://a.example.com/", "headers": {"authorization": "bearer " + plant(token())}},
            "header-default": {"url": "https://a.example.com/", "headers": {"Authorization": "Bearer ${T:-" + plant(text(20)) + "}"}},
            "header-reference-default": {"url": "https://a.example.com/", "headers": {"X-Api-Key": "${API_KEY:-" + plant(text(9)) + "}"}},
            "header-nested-default": {"url": "https://a.example.com/", "headers": {"Authorization": "Bearer ${A:-${B:-" + plant(text(12)) + "}}"}},
            "url-default": {"url": "https://a.example.com/mcp?x=${API_KEY:-" + plant(text(9)) + "}"},
            "url-path-default": {"url": "https://a.example.com/${ACCESS_TOKEN:-" + plant(text(9)) + "}/mcp"},
            "url-nested-default": {"url": "https://a.example.com/${A:-${ACCESS_TOKEN:-" + plant(text(9)) + "}}/mcp"},
            "url-login-default": {"url": "https://me:${PW:-" + plant(text(9)) + "}@a.example.com/mcp"},
            "command-default": {"command": "${SERVER_TOKEN:-" + plant(text(9)) + "}"},
            "query": {"url": "https://a.example.com/mcp?apiKey=" + plant(text(24))},
            "encoded": {"url": "https://a.example.com/mcp?k=" + urllib.parse.quote("=" + hidden)},
            "user": {"url": f"https://me:{plant(text(12))}@a.example.com/"}, "path": {"url": f"https://a.example.com/s/{plant(secret(32))}/mcp"},
            "user-alone": {"url": f"https://{plant(secret(30))}@a.example.com/"},
            "helper": {"url": "https://a.example.com/", "headersHelper": "echo " + plant(token())},
            "oauth": {"url": "https://a.example.com/", "oauth": {"clientSecret": plant(secret(30))}},
            "unknown": {"command": "sh", "whatever": plant(token())}, plant(token()): {"command": "sh"},
        }
        for server in servers.values():
            server.setdefault("type", "http" if "url" in server else "stdio")
            if "url" not in server:
                server.setdefault("command", "sh")
        said = self.planted(servers)
        for name in servers:
            if name not in self.values and name != "unknown":
                self.assertIn(f"MCP server '{name}' (", said)
        self.assertIn("MCP server '...' (", said)
        self.assertIn("[>] unknown (yours", said)  # without the member that Claude does not know

    def test_headers_of_the_usual_form_and_numbers_of_tokens_pass(self):
        headers = {"Accept": "application/json, text/event-stream;q=0.9, */*", "Accept-Encoding": "gzip, deflate;q=0.5, br", "Content-Type": "application/json; charset=utf-8",
                   "Accept-Language": "en-GB,en;q=0.9,es-419", "Cache-Control": "no-cache, max-age=0", "anthropic-version": "2023-06-01",
                   "anthropic-beta": "prompt-caching-2024-07-31,output-128k-2025-02-19,claude-code-20250219"}
        agents = ("curl/8.5.0", "my-agent/1.0", "python-requests/2.31.0", "${AGENT}/1.0", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36")
        servers = {f"h{number}": {"type": "http", "url": "https://a.example.com/", "headers": {**headers, "User-Agent": agent}}
                   for number, agent in enumerate(agents)}
        servers["numbers"] = {"command": "sh", "args": ["--max-tokens", "4096", "--tokens=200000", "--max-output-tokens", "none", "--mappings", "Zq8vK2mLx"]}
        self.account(servers)
        names, lacks = self.result()
        self.assertEqual(names, list(servers), lacks)

    def test_a_reference_is_no_secret(self):
        self.account({"a": {"type": "http", "url": "https://a.example.com/", "headers": {"Authorization": "Bearer ${MY_TOKEN}"}},
                      "b": {"command": "sh", "env": {"MY_TOKEN": "${MY_TOKEN}"}}})
        value = self.plant(token())
        env = {"MY_TOKEN": value}
        names, lacks = self.result(env=env)
        self.assertEqual(names, [])
        self.assertEqual(lacks["MCP server 'a'"], ("uses a variable: MY_TOKEN", "CLAUDEBOX_EXTRA_ENV=MY_TOKEN"))
        self.assertEqual(self.result(env={**env, "CLAUDEBOX_EXTRA_ENV": "MY_TOKEN"})[0], ["a", "b"])
        self.profile(extra_env_passthrough=["MY_TOKEN"])
        self.assertEqual(self.result(env=env)[0], ["a", "b"])

    def test_a_named_secret_is_a_variable_of_the_box_and_in_no_file(self):
        value = self.plant(token())
        self.account({"a": {"command": "sh", "env": {"MY_TOKEN": value}}, "b": {"command": "sh", "env": {"MY_TOKEN": value}},
                      "c": {"command": "sh", "env": {"MY_TOKEN": token()}}})
        self.profile(extra_env_passthrough=["MY_TOKEN"])
        plan = self.plan()
        self.assertEqual([row["name"] for row in plan["mcp_servers"]], ["a", "b"])
        self.assertEqual(self.lacks(plan)["MCP server 'c'"], ("its MY_TOKEN is not the one that the box has", None))
        self.assertNotIn(value, json.dumps(plan))
        done = self.claudebox("--yes", "--exec", "sh", "-c", "printenv MY_TOKEN; grep -rl \"$MY_TOKEN\" ~ /run /etc /tmp")
        self.assertEqual(done.stdout, value + "\n")
        self.assertNotIn(value, done.stderr)
        self.assertNotIn(value, self.claudebox("--dry-run").stdout)
        self.assertIn("MY_TOKEN", done.stderr)
        self.profile()
        self.assertEqual(self.result()[0], [])

    def test_a_named_secret_that_a_server_has_is_not_missing(self):
        self.account({"a": {"command": "sh", "env": {"MY_TOKEN": self.plant(token())}}})
        self.profile(extra_env_passthrough=["MY_TOKEN", "MISSING_ONE"])
        row = ("not set on the host; requested by profile default", None)
        for env in ({}, {"CLAUDEBOX_EXTRA_ENV": "MY_TOKEN"}):
            lacks = self.result(env=env)[1]
            self.assertEqual((lacks.get("variable MY_TOKEN"), lacks["variable MISSING_ONE"]), (None, row))
            checked = self.claudebox("--check", env=env).stdout
            self.assertIn("variable MISSING_ONE", checked)
            self.assertNotIn("variable MY_TOKEN", checked)
            self.assertNotIn("variable MY_TOKEN", self.claudebox("--yes", "--audit=full", "--exec", "true", env=env).stderr)

    def test_a_named_secret_of_a_server_that_cannot_run_stays_outside(self):
        self.account({"a": {"command": "no-such-program", "env": {"MY_TOKEN": self.plant(token())}}})
        self.profile(extra_env_passthrough=["MY_TOKEN"])
        self.assertNotIn("MY_TOKEN", [row["name"] for row in self.plan()["environment"]])


class Hostile(ServersTest):
    def start(self):
        done = self.claudebox("--yes", "--exec", "cat", self.home / ".claude" / ".claude.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        json.loads(done.stdout)
        return done

    def test_wrong_types(self):
        for servers in ([], "x", 7, None, {"a": []}, {"a": "sh"}, {"a": None}, {"a": {}}, {"a": {"command": 7}}, {"a": {"command": ["sh"]}},
                        {"a": {"command": "sh", "args": "x"}}, {"a": {"command": "sh", "args": [7]}}, {"a": {"command": "sh", "env": []}},
                        {"a": {"command": "sh", "env": {"X": 7}}}, {"a": {"command": "sh", "env": {"X": {"Y": "z"}}}}, {"a": {"type": 7}},
                        {"a": {"type": "http"}}, {"a": {"type": "http", "url": "file:///etc/passwd"}}, {"a": {"type": "http", "url": ""}},
                        {"a": {"type": "ws-ide", "url": "https://a.example.com"}}, {"a": {"command": ""}}, {"": {"command": "sh"}}):
            with self.subTest(servers=servers):
                self.write(self.home / ".claude.json", {"mcpServers": servers, "projects": {str(self.project): {"mcpServers": servers}}})
                self.assertEqual(self.result()[0], [])
        for projects in ([], 7, {str(self.project): 7}, {str(self.project): {"disabledMcpServers": 7}}):
            self.write(self.home / ".claude.json", {"mcpServers": {"a": {"command": "sh"}}, "projects": projects})
            self.assertEqual(self.result()[0], ["a"])

    def test_duplicate_keys_count_like_in_claude(self):
        self.write(self.home / ".claude.json", '{"mcpServers": {"a": {"command": "sh"}}, "mcpServers": {"b": {"command": "sh"}, '
                                               '"b": {"command": "no-such-program"}, "c": {"command": "sh"}}}')
        self.assertEqual(self.result()[0], ["c"])

    def test_names(self):
        names = ["a\x1b[31mred", "a\nMCP servers: all", "a\x7f", "x" * 5000, "a\u202eb"]
        self.account({name: {"command": "sh"} for name in [*names, "good-name_1", "with space"]})
        self.assertEqual(self.result()[0], ["good-name_1", "with space"])
        done = self.start()
        self.assertNotIn("\x1b[31m", done.stderr)
        self.assertNotRegex(done.stderr, r"(?m)^MCP servers: all")

    def test_a_file_that_is_not_json_changes_nothing(self):
        self.account({"a": {"command": "sh"}}, theme="light")
        self.start()
        for content in ("{", "[]", "", '{"mcpServers": {}', "\0", '{"mcpServers" {}}'):
            self.write(self.home / ".claude.json", content)
            done = self.start()
            account = json.loads(done.stdout)
            self.assertEqual((list(account["mcpServers"]), account["theme"]), (["a"], "light"), content)
            self.assertIn("the host's .claude.json is not valid JSON", " ".join(done.stderr.split()))
        (self.home / ".claude.json").unlink()
        account = json.loads(self.start().stdout)
        self.assertEqual((account["mcpServers"], account.get("theme")), ({}, None))

    def test_a_file_that_is_not_read_is_named_with_the_reason(self):
        path = self.home / ".claude.json"
        self.account({"a": {"command": "sh"}}, theme="light")
        self.start()
        with open(path, "a", encoding="utf-8") as file:
            file.write(" " * (100 << 20))
        for wanted in ("is longer than 64 MiB", "is not a regular file"):
            done = self.start()
            self.assertEqual(list(json.loads(done.stdout)["mcpServers"]), ["a"])
            self.assertIn(f"the host's .claude.json {wanted}: its preferences and MCP servers are ignored", " ".join(done.stderr.split()))
            path.unlink()
            os.mkfifo(path)

    def test_settings_that_are_not_read_are_named_with_the_reason(self):
        path = self.write(self.claude / "settings.json", json.dumps({"theme": "light"}) + " " * (2 << 20))
        for wanted in ("it is longer than 1 MiB", "it is not a regular file"):
            self.assertIn(wanted, " ".join(self.start().stderr.split()))
            path.unlink()
            os.mkfifo(path)

    def test_a_large_file_is_quick(self):
        history = [{"display": "x" * 200, "pastedContents": {}} for _ in range(40)]
        projects = {f"/p{i}": {"history": history} for i in range(1100)}
        self.account({"a": {"command": "sh"}})
        small = min(self.seconds() for _ in range(3))
        self.write(self.home / ".claude.json", {"projects": projects, "mcpServers": {"a": {"command": "sh"}}})
        self.assertGreater((self.home / ".claude.json").stat().st_size, 10_000_000)
        self.assertEqual(self.result()[0], ["a"])
        self.assertLess(min(self.seconds() for _ in range(3)), small + 0.3)

    def seconds(self):
        start = time.monotonic()
        self.plan()
        return time.monotonic() - start

    def test_deep_and_wide_values_are_refused(self):
        deep = "[" * 200_000 + "]" * 200_000
        self.write(self.home / ".claude.json", '{"x": %s, "mcpServers": {"a": {"command": "sh"}}}' % deep)
        self.assertEqual(self.result()[0], ["a"])
        for value in (deep, '{"a": {"command": "sh", "env": %s}}' % deep, json.dumps({"a": {"command": "x" * 3_000_000}}),
                      json.dumps({"a": {"command": "sh", "args": ["x"] * 100_000}})):
            self.write(self.home / ".claude.json", '{"mcpServers": %s}' % value)
            names, lacks = self.result()
            self.assertEqual(names, [])
            self.assertTrue({"your MCP servers", "MCP server 'a'"} & set(lacks))
        self.account({f"s{i}": {"command": "sh"} for i in range(300)})
        names, lacks = self.result()
        self.assertEqual((len(names), lacks["more MCP servers"][0]), (100, "there are too many"))

    def test_a_box_cannot_bring_servers_to_the_host_or_to_other_projects(self):
        self.account({"a": {"command": "sh"}})
        before = (self.home / ".claude.json").read_text()
        self.box("""python3 - <<'X'
import json, os
path = os.path.expanduser("~/.claude/.claude.json")
account = json.load(open(path))
account["mcpServers"]["evil\\x1b[31m"] = {"command": "sh"}
account["projects"]["/other"] = {"mcpServers": {"evil": {"command": "sh"}}}
json.dump(account, open(path, "w"))
X""")
        self.assertEqual((self.home / ".claude.json").read_text(), before)
        other = self.home / "other"
        other.mkdir()
        self.assertNotIn("evil", self.box("cat ~/.claude/.claude.json", cwd=other))

    def test_the_line_at_the_end_survives_what_a_box_writes(self):
        for script in ("rm ~/.claude/.claude.json; ln -s /etc/passwd ~/.claude/.claude.json", "rm ~/.claude/.claude.json; mkfifo ~/.claude/.claude.json",
                       "echo '{' > ~/.claude/.claude.json", "rm -f ~/.claude/.claude.json; mkdir ~/.claude/.claude.json",
                       "printf '{\"mcpServers\":{\"a\\\\u001b[31mb\":{},\"c\":7}}' > ~/.claude/.claude.json"):
            with self.subTest(script=script):
                done = self.claudebox("--yes", "--exec", "sh", "-c", script)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("\x1b[31m", done.stderr)
                self.box("rm -rf ~/.claude/.claude.json")
        self.assertIn("'a\\x1b[31mb', 'c': added for the boxes of this project only", " ".join(done.stderr.split()))


class Commands(ServersTest):
    """Hooks, the status line and file suggestions."""

    def settings(self, command):
        self.write(self.claude / "settings.json", {"statusLine": {"type": "command", "command": command}, "hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": command}]}], "Notification": [{"hooks": [{"type": "command", "command": command}]}]}})

    def kept(self, *options, **more):
        done = self.claudebox("--yes", *options, "--exec", "cat", self.home / ".claude" / "settings.json", **more)
        settings = json.loads(done.stdout)
        return "statusLine" in settings and bool(settings["hooks"]["Stop"][0]["hooks"])

    def test_a_hook_works_once_its_directory_is_mounted(self):
        self.program(self.home / "scripts" / "x.sh")
        for command in ("~/scripts/x.sh --fast", "$HOME/scripts/x.sh", f"{self.home}/scripts/x.sh", f"sh '{self.home}/scripts/x.sh'"):
            with self.subTest(command=command):
                self.settings(command)
                self.assertFalse(self.kept())
                rows = [row for row in self.plan()["left_out"] if row["what"].startswith("hook ")]
                self.assertEqual([(row["why"], row["option"]) for row in rows], [("~/scripts/x.sh is not in the box", "--mount-ro ~/scripts")])
                for options in (("--mount-ro", "~/scripts"), ("--path", "~/scripts"), ("--mount-rw", self.home / "scripts")):
                    self.assertTrue(self.kept(*options))
        self.profile(mounts=[{"host": "~/scripts"}])
        self.assertTrue(self.kept())

    def test_a_file_that_is_missing_outside_as_well_is_no_reason(self):
        for command in (f"echo x >>{self.home}/logs/claude.log", f"sh -c 'echo x > {self.home}/new'", f"test -e {self.home}/flag"):
            with self.subTest(command=command):
                self.settings(command)
                self.assertTrue(self.kept())
                self.assertEqual([row for row in self.plan()["left_out"] if row["what"].startswith("hook ")], [])

    def test_a_program_of_path_works_once_its_directory_comes(self):
        self.program(self.home / "scripts" / "prompt")
        env = {"PATH": f"{self.home}/scripts:{self.env['PATH']}"}
        self.settings("prompt --short")
        self.assertFalse(self.kept(env=env))
        self.assertEqual(self.lacks(self.plan(env=env))["statusLine 'prompt --short'"],
                         ("its program ~/scripts/prompt is not in the box", "--path ~/scripts"))
        self.assertTrue(self.kept("--path", "~/scripts", env=env))
        self.assertFalse(self.kept(env=env))

    def test_a_script_beside_secrets_comes_alone(self):
        script = self.program(self.home / "notify.sh")
        self.settings(str(script))
        row = self.lacks(self.plan())[f"statusLine '{script}'"] if len(str(script)) <= 60 else \
            next(value for key, value in self.lacks(self.plan()).items() if key.startswith("statusLine"))
        self.assertEqual(row[1], "--mount-ro ~/notify.sh")
        self.assertTrue(self.kept("--mount-ro", "~/notify.sh"))

    def test_a_program_behind_a_link_of_the_system(self):
        self.settings("/bin/sh -c true")
        self.assertTrue(self.kept())
        self.account({"x": {"command": "/bin/sh", "args": ["-c", "true"]}})
        self.assertEqual(self.result()[0], ["x"])

    def test_a_program_that_the_box_installed_counts(self):
        self.settings("own-prompt")
        self.assertFalse(self.kept())
        self.box("mkdir -p ~/.local/bin; printf '#!/bin/sh\\n' > ~/.local/bin/own-prompt; chmod +x ~/.local/bin/own-prompt")
        self.assertTrue(self.kept())


class Preferences(ServersTest):
    def own(self):
        return json.loads(self.box("cat ~/.claude/.claude.json"))

    def test_only_harmless_values_come_along(self):
        value = token()
        self.account(theme="light", editorMode="vim", verbose=True, messageIdleNotifThresholdMs=9000, autoCompactEnabled="yes",
                     diffTool=value, preferredNotifChannel={"a": value}, env={"X": value}, apiKeyHelper="echo " + value, primaryApiKey=value,
                     oauthAccount={"emailAddress": "a@b.c"}, userID=value, customApiKeyResponses={"approved": [value]}, history=[value],
                     remoteControlAtStartup=True, autoUploadSessions=True, copyOnSelect=7, machineID=value)
        own = self.own()
        self.assertEqual((own["theme"], own["editorMode"], own["verbose"], own["messageIdleNotifThresholdMs"]), ("light", "vim", True, 9000))
        self.assertLessEqual(set(own), {"theme", "editorMode", "verbose", "messageIdleNotifThresholdMs", "hasCompletedOnboarding",
                                        "bypassPermissionsModeAccepted", "projects", "mcpServers", "customApiKeyResponses"})
        self.assertNotIn(value, json.dumps(own))

    def test_the_host_changes_a_preference_and_the_box_keeps_its_own(self):
        self.account(theme="light", verbose=True, editorMode="vim")
        self.assertEqual(self.own()["theme"], "light")
        self.account(theme="dark", verbose=True)
        own = self.own()
        self.assertEqual((own["theme"], own.get("editorMode")), ("dark", None))
        self.box("sed -i 's/\"theme\": \"dark\"/\"theme\": \"mine\"/; s/\"verbose\": true/\"verbose\": false/' ~/.claude/.claude.json")
        self.account(theme="light", verbose=True)
        own = self.own()
        self.assertEqual((own["theme"], own["verbose"]), ("mine", False))


class ConfigDirectory(ServersTest):
    def test_the_account_file_of_claude_config_dir(self):
        place = self.home / "elsewhere"
        self.write(place / ".claude.json", {"mcpServers": {"there": {"command": "sh"}}})
        self.account({"here": {"command": "sh"}})
        self.assertEqual(self.result()[0], ["here"])
        self.assertEqual(self.result(env={"CLAUDE_CONFIG_DIR": str(place)})[0], ["there"])


del StateTest, ServersTest

if __name__ == "__main__":
    unittest.main()
