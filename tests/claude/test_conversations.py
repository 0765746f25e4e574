# SPDX-License-Identifier: MIT
"""The real Claude Code: conversations of plain claude resume in the box, and the line at the end resumes those of the box."""
import json
import os
import re
import subprocess
import unittest

from lib.box import CLAUDEBOX
from claude.claude import ClaudeTest
from claude.test_screen import OnScreen

ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
TOKEN = "gh" "p_7Qk29XvLmPq7RtYzW3bN5cY8wL2pD4aB1cD2"


class Imported(ClaudeTest):
    def plain(self, *arguments, cwd=None):
        """Runs claude on the host; returns the id of the conversation."""
        env = {**self.env, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        done = subprocess.run([os.environ[self.kind], "-p", *arguments, "--output-format", "json"], cwd=cwd or self.project, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)["session_id"]

    def sent(self):
        return json.dumps(self.messages()[-1]["body"]["messages"])

    def test_a_conversation_of_the_host_resumes_in_the_box(self):
        number = self.plain("words on the host")
        done = self.claude("--resume", number, "-p", "more words")
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"claudebox --import-conversations --resume {number}", done.stderr)
        done = self.claude("--import-conversations", "--resume", number, "-p", "more words")
        self.assertEqual((done.returncode, done.stdout), (0, "ECHO more words\n"), done.stderr)
        self.assertIn("words on the host", self.sent())
        # What is said in the box stays there.
        host = next((self.home / ".claude/projects").rglob(f"{number}.jsonl")).read_text()
        self.assertNotIn("more words", host)

    def test_a_directory_with_a_long_and_odd_name(self):
        place = self.home
        for _ in range(8):
            place = place / "a long näme 😀 with_dots.and-more"
        place.mkdir(parents=True)
        number = self.plain("words in a deep directory", cwd=place)
        done = self.claude("--import-conversations", "--resume", number, "-p", "more", cwd=place)
        self.assertEqual((done.returncode, done.stdout), (0, "ECHO more\n"), done.stderr)
        self.assertIn("words in a deep directory", self.sent())

    def test_everyday_conversations_have_no_secret(self):
        number = self.plain("RUN: ls -la /etc | head -40; id; env | cut -d= -f1; git --version")
        done = self.claude("--import-conversations", "-p", "x")
        self.assertIn("copying 1 of 1 conversations", done.stderr)
        self.assertNotIn("secret:", done.stderr)
        self.assertTrue(number)

    def test_a_token_in_the_output_of_a_tool_is_found(self):
        (self.project / "notes.txt").write_text(f"the token is {TOKEN}\n")
        number = self.plain("RUN: cat notes.txt", "--dangerously-skip-permissions") if os.getuid() else self.plain(TOKEN)
        done = self.claude("--import-conversations", "-p", "x")
        self.assertRegex(done.stderr, rf"secret: {number}\.jsonl, line \d+: a GitHub token")
        self.assertNotIn(TOKEN[8:], done.stderr)
        self.assertIn("copying 0 of 1 conversations", done.stderr)


class ImportedOld(Imported):
    kind = "CLAUDE_OLD"
    test_everyday_conversations_have_no_secret = None  # these do not depend on the version
    test_a_token_in_the_output_of_a_tool_is_found = None


class EndLine(OnScreen):
    def test_the_line_at_the_end_resumes(self):
        self.screen.type(f"clear; {CLAUDEBOX} --yes --append-system-prompt {self.mark}")
        self.screen.send("Enter")
        self.screen.wait_for(r"bypass permissions on", timeout=60)
        self.submit("words to remember")
        self.screen.wait_for("ECHO words to remember", timeout=60)
        self.end()
        shown = self.screen.text()
        outside = re.search(rf"claude --resume ({ID})", shown)
        inside = re.search(rf"resume: claudebox --resume ({ID})", shown)
        self.assertTrue(outside and inside, shown)
        self.assertEqual(outside.group(1), inside.group(1))
        done = self.claude("--resume", inside.group(1), "-p", "and again")
        self.assertEqual(done.stdout, "ECHO and again\n", done.stderr)
        self.assertIn("words to remember", json.dumps(self.messages()[-1]["body"]["messages"]))

    def test_no_line_without_a_conversation(self):
        self.screen.type(f"clear; {CLAUDEBOX} --yes --append-system-prompt {self.mark}")
        self.screen.send("Enter")
        self.screen.wait_for(r"bypass permissions on", timeout=60)
        self.end()
        self.assertNotIn("resume: claudebox", self.screen.text())


for name in [name for name in dir(OnScreen) if name.startswith("test_")]:
    setattr(EndLine, name, None)
del OnScreen

if __name__ == "__main__":
    unittest.main()
