# SPDX-License-Identifier: MIT
"""A pseudo-terminal with a program on it. The test writes its input and reads its output."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time


class Terminal:
    """A pseudo-terminal, and a session whose leader is the given command."""

    def __init__(self, command, env, cwd, rows=24, columns=80):
        self.output = b""
        self.seen = 0
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
                    signal.signal(number, signal.SIG_DFL)
                os.chdir(cwd)
                # Set the size before the program reads it.
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.execvpe(command[0], [os.fsencode(word) for word in command], env)
            finally:
                os._exit(99)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def foreground(self):
        """Returns the foreground process group."""
        return struct.unpack("i", fcntl.ioctl(self.fd, termios.TIOCGPGRP, b"\0\0\0\0"))[0]

    def send(self, text):
        os.write(self.fd, text if isinstance(text, bytes) else text.encode())

    def _read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], max(0, seconds))
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the last program has closed the terminal
            data = b""
        self.output += data
        return bool(data)

    def expect(self, pattern, seconds=8):
        """Waits for a pattern in the output after the last match; returns the new match."""
        end = time.monotonic() + seconds
        while True:
            match = re.search(pattern.encode(), self.output[self.seen:], re.M)
            if match:
                self.seen += match.end()
                return match
            if time.monotonic() >= end:
                raise AssertionError(f"no {pattern!r} in {self.output[self.seen:]!r}")
            if not self._read(min(0.2, end - time.monotonic())) and self.ended():
                while self._read(0):
                    pass
                if not re.search(pattern.encode(), self.output[self.seen:], re.M):
                    raise AssertionError(f"ended without {pattern!r}: {self.output[self.seen:]!r}")

    def quiet(self, seconds):
        """Reads for some seconds; returns the output after the last match."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._read(end - time.monotonic())
        return self.output[self.seen:]

    def ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait(self, seconds=8):
        """Returns the exit status of the first program. Reads its output, so that it is not
        blocked."""
        end = time.monotonic() + seconds
        while not self.ended():
            if time.monotonic() >= end:
                raise AssertionError(f"still running: {self.output[-500:]!r}")
            self._read(0.05)
        while self._read(0):
            pass
        return self.status

    def hang_up(self):
        """Closes the master, as closing a window does."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def close(self):
        self.hang_up()
        if not self.ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.status = -9


class Answering(Terminal):
    """A terminal that answers queries as xterm does, after a delay as over a network."""

    ANSWERS = (
        (rb"\x1b\[0?c", b"\x1b[?64;1;2;6;9;15;18;21;22c"),
        (rb"\x1b\[>0?c", b"\x1b[>41;379;0c"),
        (rb"\x1b\[>0?q", b"\x1bP>|XTerm(379)\x1b\\"),
        (rb"\x1b\[5n", b"\x1b[0n"),
        (rb"\x1b\[6n", b"\x1b[12;%dR"),
        (rb"\x1b\]11;\?(?:\x07|\x1b\\)", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
        (rb"\x1b\[21t", b"\x1b]lrm -rf x\x1b\\"),
        (rb"\x05", b"answerback\r"),
    )

    def __init__(self, *arguments, delay=0.01, **options):
        self.delay = delay
        self.scanned = 0
        self.answered = []
        super().__init__(*arguments, **options)

    def _read(self, seconds):
        got = super()._read(seconds)
        found = sorted((match.start(), match.end(), answer) for query, answer in self.ANSWERS
                       for match in re.finditer(query, self.output[self.scanned:]))
        for start, _, answer in found:
            time.sleep(self.delay)
            column = re.findall(rb"\x1b\[(\d+)G", self.output[:self.scanned + start])
            answer = answer.replace(b"%d", column[-1] if column else b"34")
            self.answered.append(answer)
            os.write(self.fd, answer)
        if found:
            self.scanned += found[-1][1]
        return got


def approve(test, *words):
    """Starts a command in the project of a test on a terminal, answers the question with yes and returns the output."""
    test.env["NO_COLOR"] = "1"
    terminal = Terminal(list(map(str, words)), test.env, str(test.project), columns=200)
    test.addCleanup(terminal.close)
    terminal.expect(r"Start\? \[y/N\]")
    terminal.send("y\n")
    terminal.wait(20)
    return terminal.output.decode()
