# SPDX-License-Identifier: MIT
"""Base class for tests of the tier inet: runs claudebox in a World of network namespaces."""
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from lib.box import BoxTest, processes_with, until
from lib.world import CONNECT, World, bounded

AT_ONCE = 0.5  # seconds; far below any timeout
PR_SET_CHILD_SUBREAPER = 36


class InetTest(BoxTest):
    """The tests of a class share one World. Each test fails if a process of it survives."""

    families = "46"
    online = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Processes that outlive claudebox become children of this process, in any namespace.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        cls.world = World(cls.families, cls.online)
        cls.addClassCleanup(cls.world.close)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.nothing_left)

    def orphans(self):
        """Returns the processes that have outlived their claudebox, and reaps those that have ended."""
        found = []
        for task in pathlib.Path("/proc/self/task").iterdir():
            try:
                children = (task / "children").read_text(encoding="ascii").split()
            except OSError:  # a thread that has ended
                continue
            for pid in map(int, children):
                if pid != self.world.process.pid and os.waitpid(pid, os.WNOHANG)[0] == 0:
                    found.append(pid)
        return found

    def left(self):
        return sorted({*self.world.other_processes(), *self.orphans()})

    def nothing_left(self):
        """Fails if a process still runs at the end of a test, after killing it."""
        if until(lambda: not self.left(), 2):
            return
        names = [name_of(pid) for pid in self.left()]
        for pid in self.left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not self.left(), 2)
        self.fail(f"still running: {names}")

    def command(self, *arguments, cwd=None):
        return [*self.world.as_user(cwd or self.project), self.under_test, *map(str, arguments)]

    def claudebox(self, *arguments, cwd=None, env=None, **options):
        options = {"timeout": 20, "stdin": subprocess.DEVNULL} | options
        return subprocess.run(self.command(*arguments, cwd=cwd), env={**self.env, **(env or {})}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="surrogateescape", check=False, **options)

    def inet(self, *command, options=(), **more):
        """Runs a command in a box and checks that claudebox has started it."""
        done = self.claudebox("--network", "inet", *options, "--yes", "--exec", *command, **more)
        self.assertNotEqual(done.returncode, 125, done.stderr[-800:])
        return done

    def python(self, script, *arguments, options=(), **more):
        """Runs a Python program in a box, checks its exit status, and returns the JSON that it prints."""
        done = self.inet("/usr/bin/python3", "-c", script, *map(str, arguments), options=options, **more)
        self.assertEqual(done.returncode, 0, done.stderr[-800:])
        return json.loads(done.stdout)

    def connect(self, table, options=()):
        """Runs connect.py in a box."""
        return self.python(CONNECT, json.dumps(table), options=options)

    def start(self, *command, options=(), **more):
        """Starts a command in a box and returns a Session."""
        return Session(self, command, options, **more)

    def assertRefused(self, table, results, expected):
        """Checks that every row failed at once, with an error that `expected` has for its protocol ("ping6" for IPv6 pings)."""
        wrong = [f"{protocol} {address} {port}: {outcome} after {seconds} s" for (protocol, address, port), (outcome, seconds)
                 in zip(table, results, strict=True)
                 if outcome not in expected["ping6" if protocol == "ping" and ":" in address else protocol] or seconds > AT_ONCE]
        self.assertEqual(wrong, [])

    def assertReached(self, table, results):
        wrong = [f"{protocol} {address} {port}: {outcome} after {seconds} s" for (protocol, address, port), (outcome, seconds)
                 in zip(table, results, strict=True) if outcome != "reached"]
        self.assertEqual(wrong, [])


class Session:
    """A running box that the test talks to in lines. The process is claudebox itself."""

    def __init__(self, test, command, options=(), **more):
        self.test = test
        self.mark = f"mark{os.getpid()}x{time.monotonic_ns()}"
        # The mark is an argument of the command, so that processes_with finds every process of the box.
        wrapped = ["sh", "-c", '"$@"', self.mark, *command] if command[0] != "sh" else [*command, self.mark]
        self.stderr = tempfile.TemporaryFile("w+", encoding="utf-8")  # unlike a pipe it can be read at any time
        self.process = subprocess.Popen(test.command("--network", "inet", *options, "--yes", "--exec", *wrapped), env=test.env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr, start_new_session=True, **more)
        test.addCleanup(self.end)

    def errors(self):
        """Returns the standard error output so far."""
        return os.pread(self.stderr.fileno(), 1 << 20, 0).decode(errors="replace")

    def line(self):
        with bounded(self.process, 20):
            return self.process.stdout.readline().rstrip("\n")

    def expect(self, wanted="ready"):
        found = self.line()
        if found != wanted:
            self.process.kill()
            self.test.fail(f"{found!r} instead of {wanted!r}: {self.errors()[-800:]}")
        return self

    def send_line(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def connect(self, table):
        """Sends a table to a session that runs connect.py, and returns the results."""
        self.send_line(json.dumps(table))
        return json.loads(self.line())

    def finish(self, seconds=20):
        """Closes the input and returns the exit status and the error output."""
        self.process.stdin.close()
        with bounded(self.process, seconds):
            return self.process.wait(), self.errors()

    def gone(self, seconds=2):
        return until(lambda: not processes_with(self.mark), seconds)

    def end(self):
        self.process.kill()
        self.process.wait(10)
        for stream in (self.process.stdin, self.process.stdout, self.stderr):
            try:
                stream.close()
            except OSError:
                pass
        for pid in processes_with(self.mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""
