# SPDX-License-Identifier: MIT
"""The policy in /etc/claude-code applies in the box, with the real Claude Code."""
import json
import os
import unittest

from claude.claude import ClaudeTest
from lib.other_host import OtherHost


class Policy(ClaudeTest):
    def host(self):
        policy = {"/etc/claude-code/managed-settings.json": json.dumps({"env": {"FROM_POLICY": "yes"}, "permissions": {"deny": ["WebFetch"]}}),
                  "/etc/claude-code/managed-settings.d/50-more.json": json.dumps({"env": {"FROM_DROP_IN": "yes"}}),
                  "/etc/claude-code/CLAUDE.md": "COMPANY-INSTRUCTIONS: be polite\n"}
        return OtherHost(self, policy)

    def run_claude(self, *arguments):
        program = os.path.realpath(os.environ[self.kind])
        return self.host().claudebox("--yes", *arguments, options=("--ro-bind", program, program), env={"CLAUDEBOX_CLAUDE": program})

    def test_settings_and_instructions_apply(self):
        done = self.run_claude("-p", "RUN: env")
        self.assertIn("DONE", done.stdout, done.stderr)
        self.assertIn("FROM_POLICY=yes", done.stdout)
        self.assertIn("FROM_DROP_IN=yes", done.stdout)
        body = json.dumps([entry["body"] for entry in self.messages()])
        self.assertIn("COMPANY-INSTRUCTIONS", body)
        self.assertIn("You are in a sandbox (claudebox)", body)

    def test_the_box_cannot_change_the_policy(self):
        done = self.run_claude("-p", "RUN: echo {} > /etc/claude-code/managed-settings.json; echo x > /etc/claude-code/CLAUDE.md; "
                               "rm -f /etc/claude-code/managed-settings.json; cat /etc/claude-code/managed-settings.json")
        self.assertIn("FROM_POLICY", done.stdout, done.stderr)


del ClaudeTest

if __name__ == "__main__":
    unittest.main()
