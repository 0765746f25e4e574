# SPDX-License-Identifier: MIT
"""Boxes of one project and of its worktrees share an instance: a start beside a running box takes nothing from it."""
import json
import os
import subprocess

from box.test_state import StateTest
from lib.box import CLAUDEBOX, until
from lib.terminal import Terminal

KEY = "sk-ant-api03-" + "x" * 40
TAILS = ["ABCDEFGHIJKLMNOPQRST", "BCDEFGHIJKLMNOPQRSTU"]


class SharedInstance(StateTest):
    def start(self, *options, env=None, payload=(), cwd=None):
        """Starts a box that runs until the test ends it with stop()."""
        flag = (cwd or self.project) / "runs"
        box = subprocess.Popen([CLAUDEBOX, "--yes", *map(str, options), *payload], cwd=cwd or self.project,
                               env={**self.env, **(env or {})}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, box)
        until(flag.exists, 30)
        flag.unlink()
        return box

    @staticmethod
    def stop(box):
        return box.stderr if box.poll() is not None else box.communicate("end\n", timeout=30)[1]

    WAIT = ("--exec", "sh", "-c", "touch runs; read end")

    def start_claude(self, key, *options):
        """Starts a claude that waits; the key is that of its environment."""
        self.env["CLAUDEBOX_CLAUDE"] = str(self.fake_claude("touch runs; read end"))
        return self.start(*options, env={"ANTHROPIC_API_KEY": key})

    def file(self, name, project=None):
        return json.loads((self.instance(project) / "claude" / name).read_text())

    def approved(self):
        return self.file(".claude.json")["customApiKeyResponses"]["approved"]

    def servers(self):
        return sorted(self.file(".claude.json").get("mcpServers", {}))


class Keys(SharedInstance):
    def test_the_approval_of_a_running_box_stays(self):
        box = self.start_claude(KEY + TAILS[0])
        self.box("true")
        self.assertEqual(self.approved(), [TAILS[0]])
        self.stop(box)
        self.box("true")
        self.assertEqual(self.approved(), [])

    def test_two_running_boxes_have_a_key_each(self):
        boxes = [self.start_claude(KEY + tail) for tail in TAILS]
        self.assertEqual(self.approved(), TAILS)
        self.stop(boxes[0])
        self.box("true")
        self.assertEqual(self.approved(), TAILS)
        self.stop(boxes[1])
        self.start_claude(KEY + TAILS[1])
        self.assertEqual(self.approved(), [TAILS[1]])

    def test_a_box_in_another_worktree(self):
        main = self.repository(self.project)
        other = self.home / "other"
        self.git("worktree", "add", "-q", other, cwd=main)
        box = self.start_claude(KEY + TAILS[0])
        self.box("true", cwd=other)
        self.assertEqual(self.approved(), [TAILS[0]])
        self.stop(box)
        self.box("true", cwd=other)
        self.assertEqual(self.approved(), [])

    def test_a_box_that_starts_during_the_question(self):
        """Nothing in the file tells the later start that the approval is in use again."""
        self.stop(self.start_claude(KEY + TAILS[0]))
        terminal = Terminal([CLAUDEBOX, "--exec", "true"], self.env, str(self.project), columns=200)
        self.addCleanup(terminal.close)
        terminal.expect(r"Start\? \[y/N\]")
        self.start_claude(KEY + TAILS[0])
        terminal.send("y\n")
        self.assertEqual(terminal.wait(20), 0, terminal.output)
        self.assertEqual(self.approved(), [TAILS[0]])

    def test_a_killed_claudebox_does_not_count(self):
        box = self.start_claude(KEY + TAILS[0])
        box.kill()
        box.communicate(timeout=30)
        until(lambda: not json.loads(self.claudebox("--instances=json").stdout)["instances"][0]["in_use"], 10)
        self.box("true")
        self.assertEqual(self.approved(), [])


class Servers(SharedInstance):
    def setUp(self):
        super().setUp()
        self.tools = self.home / "tools"
        self.write(self.tools / "server", "#!/bin/sh\n").chmod(0o755)
        self.account("x")

    def account(self, *names, **more):
        self.write(self.home / ".claude.json", {"mcpServers": {name: {"command": str(self.tools / "server")} for name in names}, **more})

    def test_the_server_of_a_running_box_stays_and_is_named(self):
        box = self.start("--path", self.tools, payload=self.WAIT)
        done = self.claudebox("--yes", "--exec", "true")
        self.assertEqual(self.servers(), ["x"])
        self.assertIn("MCP server 'x'", self.warnings()[0])
        self.assertNotIn("removed for the boxes", done.stderr)
        self.assertNotIn("MCP server", self.stop(box))
        self.assertEqual(self.warnings(), [])
        self.box("true")
        self.assertEqual(self.servers(), [])
        self.claudebox("--yes", "--path", self.tools, "--exec", "true")
        self.assertEqual(self.servers(), ["x"])

    def warnings(self):
        return [text for text in self.plan()["warnings"] if "another box of this project" in text]

    def test_servers_of_the_host_are_added_beside_a_running_box(self):
        box = self.start("--path", self.tools, payload=self.WAIT)
        self.account("x", "y", theme="light")
        self.claudebox("--yes", "--path", self.tools, "--exec", "true")
        self.assertEqual((self.servers(), self.file(".claude.json")["theme"]), (["x", "y"], "light"))
        self.assertNotIn("MCP server", self.stop(box))
        self.account("y")
        self.claudebox("--yes", "--path", self.tools, "--exec", "true")
        self.assertEqual((self.servers(), self.file(".claude.json").get("theme")), (["y"], None))

    def test_a_server_that_the_host_has_changed_stays_as_it_is(self):
        box = self.start("--path", self.tools, payload=self.WAIT)
        self.write(self.home / ".claude.json", {"mcpServers": {"x": {"command": str(self.tools / "server"), "args": ["new"]}}})
        self.claudebox("--yes", "--path", self.tools, "--exec", "true")
        self.assertNotIn("args", self.file(".claude.json")["mcpServers"]["x"])
        self.stop(box)
        self.claudebox("--yes", "--path", self.tools, "--exec", "true")
        self.assertEqual(self.file(".claude.json")["mcpServers"]["x"]["args"], ["new"])

    def test_what_a_box_removes_stays_removed(self):
        box = self.start("--path", self.tools, payload=self.WAIT)
        remove = "sed -i 's/\"x\"/\"renamed\"/' ~/.claude/.claude.json"
        self.claudebox("--yes", "--path", self.tools, "--exec", "sh", "-c", remove)
        self.claudebox("--yes", "--path", self.tools, "--exec", "true")
        self.assertEqual(self.servers(), ["renamed"])
        self.stop(box)
        self.claudebox("--yes", "--path", self.tools, "--exec", "true")
        self.assertEqual(self.servers(), ["renamed"])

    def test_a_server_that_stays_brings_no_secret(self):
        """The file has references to variables, which only the box has that may have them."""
        value = os.urandom(20).hex()
        self.write(self.home / ".claude.json", {"mcpServers": {"x": {"command": "sh", "env": {"MY_TOKEN": value}}}})
        self.start(env={"CLAUDEBOX_EXTRA_ENV": "MY_TOKEN"}, payload=self.WAIT)
        seen = self.box(f"cat ~/.claude/.claude.json; grep -rl {value[:20]} ~ /run /tmp 2>/dev/null; env")
        self.assertIn("${MY_TOKEN}", seen)
        self.assertNotIn(value[:20], seen.replace(f"grep -rl {value[:20]}", ""))


class Settings(SharedInstance):
    def settings(self, **settings):
        self.write(self.claude / "settings.json", settings)

    def test_settings_are_only_added_beside_a_running_box(self):
        hook = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
        self.settings(hooks=hook, model="opus", env={"DISABLE_TELEMETRY": "1"})
        box = self.start(payload=self.WAIT)
        self.settings(model="sonnet", language="German")
        self.box("true")
        now = self.file("settings.json")
        self.assertEqual((now["hooks"], now["model"], now["env"], now["language"]),
                         (hook, "opus", {"DISABLE_TELEMETRY": "1"}, "German"))
        warning, = [text for text in self.plan()["warnings"] if "another box of this project" in text]
        for name in ("'hooks'", "'model'", "'env'"):
            self.assertIn(f"setting {name}", warning)
        self.assertNotIn("language", warning)
        self.stop(box)
        self.box("true")
        now = self.file("settings.json")
        self.assertEqual((now.get("hooks"), now["model"], now.get("env"), now["language"]), (None, "sonnet", None, "German"))

    def test_links_to_the_users_files(self):
        """A link of a running box stays, and what it wrote in the place of one."""
        self.write(self.claude / "rules" / "a.md", "host")
        box = self.start(payload=self.WAIT)
        (self.claude / "rules").rename(self.home / "rules")
        self.write(self.claude / "CLAUDE.md", "host")
        (self.instance() / "claude" / "CLAUDE.md").write_text("of the box")
        self.box("true")
        self.assertTrue((self.instance() / "claude" / "rules").is_symlink())
        self.assertEqual((self.instance() / "claude" / "CLAUDE.md").read_text(), "of the box")
        self.stop(box)
        self.box("true")
        self.assertFalse((self.instance() / "claude" / "rules").is_symlink())
        self.assertTrue((self.instance() / "claude" / "CLAUDE.md").is_symlink())

    def test_an_invalid_file_is_replaced_beside_a_running_box(self):
        self.settings(model="opus")
        box = self.start(payload=self.WAIT)
        (self.instance() / "claude" / "settings.json").write_text("{")
        self.settings(model="sonnet")
        self.box("true")
        self.assertEqual(self.file("settings.json")["model"], "sonnet")
        self.stop(box)
        self.settings(model="haiku")
        self.box("true")
        self.assertEqual(self.file("settings.json")["model"], "haiku")


del StateTest
