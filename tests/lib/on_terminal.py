# SPDX-License-Identifier: MIT
"""Base class of tests with a box on a terminal, alone or below a shell."""
import os
import pathlib
import time

from lib.box import CLAUDEBOX, BoxTest, processes_with
from lib.terminal import Terminal

CTRL_C, CTRL_D, CTRL_Z, CTRL_BACKSLASH = "\x03", "\x04", "\x1a", "\x1c"


class OnTerminal(BoxTest):
    def setUp(self):
        super().setUp()
        # Unique, and a valid argument of sleep.
        self.mark = f"1000.{os.getpid()}{time.monotonic_ns()}"

    def open(self, *command, env=None, kind=Terminal, **options):
        terminal = kind(command, {**self.env, **(env or {})}, self.project, **options)
        self.addCleanup(terminal.close)
        return terminal

    def box_on_terminal(self, script, shell="sh", **options):
        return self.open(CLAUDEBOX, "--yes", "--exec", shell, "-c", script, self.mark, **options)

    def shell(self, **options):
        """Starts an interactive bash."""
        terminal = self.open("bash", "--norc", "--noprofile", "-i", env={"PS1": "PROMPT> ", "BASH_SILENCE_DEPRECATION_WARNING": "1",
                                                                       "BOX": CLAUDEBOX, "MARK": self.mark}, **options)
        terminal.expect("PROMPT> ")
        terminal.send("bind 'set enable-bracketed-paste off' 2>/dev/null; stty -echo; echo set''up\n")
        terminal.expect("setup")
        terminal.expect("PROMPT> ")
        return terminal

    def assert_gone(self, seconds=1.5):
        end = time.monotonic() + seconds
        while processes_with(self.mark) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual([pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() for pid in processes_with(self.mark)], [])


class Direct:
    """Mixin: sets "terminal": "direct", so that the box uses the user's terminal."""

    def setUp(self):
        super().setUp()
        profiles = self.home / ".claudebox" / "profiles"
        profiles.mkdir(parents=True)
        (profiles / "direct.json").write_text('{"terminal": "direct"}')
        for path in (profiles.parent, profiles):
            path.chmod(0o700)
        self.env["CLAUDEBOX_PROFILE"] = "direct"
