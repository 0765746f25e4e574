# SPDX-License-Identifier: MIT
"""Turns with an older Claude Code, a cli.js that needs node."""
import json
import unittest

from claude.claude import ClaudeTest


class TurnOfCliJs(ClaudeTest):
    kind = "CLAUDE_OLD"

    def test_bash_tool_writes_into_the_project(self):
        done = self.turn("RUN: echo from the box > made.txt; pwd")
        self.assertIn("DONE", done.stdout, done.stderr)
        self.assertIn(str(self.project), done.stdout)
        self.assertEqual((self.project / "made.txt").read_text(), "from the box\n")

    def test_the_instructions_describe_the_box(self):
        own = self.home / ".claude" / "CLAUDE.md"
        own.parent.mkdir()
        own.write_text("OWN-INSTRUCTIONS of the user\n")
        self.turn("hello")
        body = json.dumps([entry["body"] for entry in self.messages()])
        self.assertIn("You are in a sandbox (claudebox)", body)
        self.assertIn("OWN-INSTRUCTIONS of the user", body)

    def test_resume_continues_the_conversation(self):
        # This version's --continue ignores sessions that were started with -p, with and without a box; --resume does not.
        session = "0f0f0f0f-0000-4000-8000-000000000001"
        self.claude("--session-id", session, "-p", "first words")
        self.claude("--resume", session, "-p", "second words")
        self.assertIn("first words", json.dumps(self.messages()[-1]["body"]["messages"]))

    def test_only_required_files_are_visible(self):
        command = self.plan()["command"]
        self.assertRegex(command[0], r"/node$")
        self.assertRegex(command[1], r"/cli\.js$")
        seen = self.box("ls -a $(dirname $(dirname $(dirname $(dirname \"$1\"))))", command[1])
        self.assertEqual(seen.split(), [".", "..", "node_modules"])


del ClaudeTest

if __name__ == "__main__":
    unittest.main()
