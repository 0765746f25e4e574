# SPDX-License-Identifier: MIT
"""The interactive screen of the real Claude Code in the box, under tmux and an interactive bash: input, job control, resize."""
import os
import re
import time
import unittest

from lib.box import CLAUDEBOX, processes_with
from claude.claude import ClaudeTest
from lib.on_terminal import Direct
from lib.screen import Screen

PROMPT = r"HOST>"
READY = r"bypass permissions on"
DIALOGS = re.compile(r"Choose the text style|Do you trust|Yes, I accept|Detected a custom API key|Select login method|Let's get started", re.I)


class OnScreen(ClaudeTest):
    def setUp(self):
        super().setUp()
        self.mark = f"mark-{os.path.basename(self.home)}"
        self.screen = Screen()
        self.addCleanup(self.screen.close)
        self.screen.start(["bash", "--norc", "--noprofile", "-i"], env={**self.env, "PS1": "HOST> "}, cwd=str(self.project))
        self.screen.wait_for(PROMPT)

    def start(self):
        self.screen.type(f"clear; {CLAUDEBOX} --yes --append-system-prompt {self.mark} 2>/dev/null")
        self.screen.send("Enter")
        self.screen.wait_for(READY, timeout=60)

    def submit(self, words):
        self.screen.type(words)
        self.screen.wait_for(re.escape(words))  # text and Enter in one read count as a paste
        time.sleep(0.3)
        self.screen.send("Enter")

    def end(self):
        """Ends Claude by pressing Ctrl+C twice, and checks that the shell has the terminal again. A turn that just ends consumes one of them."""
        for _ in range(5):
            self.screen.send("C-c")
            time.sleep(0.3)
            self.screen.send("C-c")
            try:
                self.screen.wait_for(PROMPT, timeout=6)
                break
            except TimeoutError:
                continue
        self.screen.type("echo BACK-AT-$((40 + 2))")
        self.screen.send("Enter")
        self.screen.wait_for("BACK-AT-42")
        self.assertEqual(processes_with(self.mark), [], "processes of the box are left")

    def test_the_first_start_has_no_dialog_and_tools_work(self):
        self.start()
        self.assertIsNone(DIALOGS.search(self.screen.text()), self.screen.text())
        self.submit("RUN: echo typed > typed.txt && echo tool-$((6 * 7))")
        self.screen.wait_for("DONE tool-42", timeout=60)
        self.assertEqual((self.project / "typed.txt").read_text(), "typed\n")
        self.end()

    def test_ctrl_z_and_fg(self):
        self.start()
        self.screen.send("C-z")
        self.screen.wait_for(r"Stopped", timeout=20)
        self.screen.type("echo SHELL-$((20 + 3))")
        self.screen.send("Enter")
        self.screen.wait_for("SHELL-23")
        self.screen.type("clear; fg")
        self.screen.send("Enter")
        time.sleep(1)
        self.submit("after fg")
        self.screen.wait_for("ECHO after fg", timeout=60)
        self.end()

    def test_ctrl_c_clears_the_line_and_keeps_the_session(self):
        self.start()
        self.screen.type("half a thought")
        self.screen.wait_for("half a thought")
        self.screen.send("C-c")
        time.sleep(1.5)
        self.assertNotIn("half a thought", self.screen.text())
        self.submit("still here")
        self.screen.wait_for("ECHO still here", timeout=60)
        self.end()

    def test_a_resize_redraws_the_screen(self):
        self.start()
        self.screen.resize(70, 30)
        self.screen.wait_for(r"^─{70}$", timeout=20)
        self.screen.resize(110, 40)
        self.screen.wait_for(r"^─{110}$", timeout=20)
        self.end()

    def test_the_second_start_has_no_dialog(self):
        self.start()
        self.end()
        self.start()
        self.assertIsNone(DIALOGS.search(self.screen.text()), self.screen.text())
        self.end()

    def test_another_box_without_the_key_does_not_end_the_login(self):
        """Claude reads its account file again before each turn."""
        self.start()
        self.submit("before")
        self.screen.wait_for("ECHO before", timeout=60)
        del self.env["ANTHROPIC_API_KEY"]
        self.box("true")
        time.sleep(2)
        self.submit("beside another box")
        self.screen.wait_for("ECHO beside another box", timeout=60)
        self.end()


class OnScreenOld(OnScreen):
    kind = "CLAUDE_OLD"


class OnScreenDirect(Direct, OnScreen):
    def setUp(self):
        super().setUp()
        (self.home / ".claudebox/profiles/filtered.json").write_text("{}")
        self.choose("direct")

    def choose(self, profile):
        self.screen.type(f"clear; export CLAUDEBOX_PROFILE={profile}")
        self.screen.send("Enter")

    def stable_screen(self):
        """Returns the screen when it no longer changes, without the lines that show times."""
        seen = None
        for _ in range(40):
            before, seen = seen, self.screen.text()
            if seen == before:
                break
            time.sleep(0.3)
        return [line.rstrip() for line in seen.splitlines() if not re.search(r" for \d+s( ·|$)", line.rstrip())]

    def test_the_terminal_filter_does_not_change_the_screen(self):
        screens = []
        for profile in ("filtered", "direct"):
            self.choose(profile)
            self.start()
            first = self.stable_screen()
            self.submit("one line")
            self.screen.wait_for("ECHO one line", timeout=60)
            screens.append((first, self.stable_screen()))
            self.end()
        self.assertEqual(screens[0], screens[1])


del ClaudeTest

if __name__ == "__main__":
    unittest.main()
