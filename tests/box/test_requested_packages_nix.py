# SPDX-License-Identifier: MIT
"""With a real Nix: claudebox asks about requested packages once, and again when the list changes."""
import unittest

from lib.box import CLAUDEBOX
from lib.nix import NixTest
from lib.terminal import Terminal

NEEDS_NIX = True


class RequestedPackages(NixTest):
    def start(self, answer=None):
        """Starts a box on a terminal and returns its output. `answer` is the answer about the requested packages, None if
        claudebox must not ask."""
        terminal = Terminal([CLAUDEBOX, "--exec", "sh", "-c", "hello || echo no hello"], {**self.env, "NO_COLOR": "1"}, str(self.project), columns=200)
        self.addCleanup(terminal.close)
        asked = terminal.expect(r"Add them to the box\? \[y/N\]|Start\? \[y/N\]", 30)[0].startswith(b"Add")
        self.assertEqual(asked, answer is not None)
        if asked:
            terminal.send(answer + "\n")
            terminal.expect(r"Start\? \[y/N\]", 30)
        terminal.send("y\n")
        terminal.wait(30)
        return terminal.output.decode()

    def request(self, text):
        (self.project / ".claudebox").mkdir(exist_ok=True)
        (self.project / ".claudebox" / "tools.txt").write_text(text)

    def test_yes_is_remembered(self):
        self.request("hello\n")
        self.assertNotIn("no hello", self.start("y"))
        out = self.start()
        self.assertNotIn("no hello", out)
        self.assertIn(".claudebox/tools.txt", out)

    def test_no_is_remembered(self):
        self.request("hello\n")
        self.assertIn("no hello", self.start("n"))
        self.assertIn("no hello", self.start())

    def test_a_changed_list_is_asked_about_again(self):
        self.request("hello\n")
        self.start("y")
        self.request("hello\nlate\n")
        self.assertIn("no hello", self.start("n"))

    def test_option_yes_does_not_grant_the_request(self):
        self.request("hello\n")
        done = self.claudebox("--yes", "--exec", "sh", "-c", "hello || echo no hello")
        self.assertIn("no hello", done.stdout)
        self.assertIn("are not added: hello", done.stderr)


if __name__ == "__main__":
    unittest.main()
