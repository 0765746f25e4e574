# SPDX-License-Identifier: MIT
"""Runs a program on a tmux screen, for tests. Uses the standard library only.

    with Screen() as s:
        s.start(["claude"], env={"HOME": "/home/u", "PATH": "/usr/bin:/bin"}, cwd="/home/u/p")
        s.wait_for(r"for shortcuts")
        s.type("hello")
        s.send("Enter")                  # key names of tmux: Enter, C-c, C-z, Escape, Up
"""
import os
import re
import shlex
import shutil
import subprocess
import time


class Screen:
    def __init__(self, name=None):
        self.name = name or "screen-%d-%x" % (os.getpid(), id(self))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def tmux(self, *args, check=True):
        p = subprocess.run(["tmux", "-L", self.name, "-f", "/dev/null", *args],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"})
        if check and p.returncode:
            raise RuntimeError("tmux %s: %s" % (args[0], p.stderr.strip()))
        return p.stdout

    def start(self, command, env=None, cols=120, rows=40, cwd=None):
        """Starts a command (an argument list) with the environment `env`; None: only PATH.
        tmux sets TERM. The screen stays when the command has ended; see status()."""
        env = {"PATH": "/usr/bin:/bin", **(env or {})}
        line = "exec " + shlex.join([shutil.which("env") or "env", "-i", *(
            "%s=%s" % kv for kv in env.items())]) + ' TERM="$TERM" ' + shlex.join(command)
        self.tmux("new-session", "-d", "-x", str(cols), "-y", str(rows), "-c", cwd or "/",
                  line, ";", "set-option", "-g", "remain-on-exit", "on",
                  ";", "set-option", "-g", "status", "off")

    def send(self, *keys):
        """Sends keys by tmux's names."""
        self.tmux("send-keys", *keys)

    def type(self, text):
        """Sends literal text."""
        self.tmux("send-keys", "-l", "--", text)

    def text(self, history=False):
        return self.tmux("capture-pane", "-p", *(["-S", "-"] if history else []))

    def wait_for(self, pattern, timeout=30, history=False):
        """Waits until the screen shows the pattern; returns the match. Raises TimeoutError with the
        screen."""
        end = time.monotonic() + timeout
        while True:
            text = self.text(history)
            m = re.search(pattern, text, re.M)
            if m:
                return m
            if time.monotonic() > end:
                raise TimeoutError("no %r on the screen:\n%s" % (pattern, text))
            time.sleep(0.1)

    def pid(self):
        """Returns the process id of the command."""
        return int(self.tmux("display-message", "-p", "#{pane_pid}"))

    def status(self):
        """Returns None while the command runs, then its exit code, or 128 + signal."""
        dead, code, sig = self.tmux("display-message", "-p",
                                    "#{pane_dead}/#{pane_dead_status}/#{pane_dead_signal}").strip().split("/")
        if dead != "1" or not (code or sig):      # tmux sets the status shortly after the end
            return None
        return 128 + int(sig) if sig else int(code)

    def wait_exit(self, timeout=30):
        end = time.monotonic() + timeout
        while (code := self.status()) is None:
            if time.monotonic() > end:
                raise TimeoutError("still running:\n" + self.text())
            time.sleep(0.1)
        return code

    def resize(self, cols, rows):
        self.tmux("resize-window", "-x", str(cols), "-y", str(rows))

    def close(self):
        self.tmux("kill-server", check=False)       # only the server of this screen (-L)
