# SPDX-License-Identifier: MIT
"""claudebox with --network inet in a little world of its own: what the tests of that tier share."""
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
from lib.world import PROBE, World, bounded

AT_ONCE = 0.5  # seconds; far from any time-out
PR_SET_CHILD_SUBREAPER = 36


class InetTest(BoxTest):
    """One world for all tests of a class; after each of them nothing runs on its host any more."""

    families = "46"
    online = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # What outlives claudebox becomes our child, whatever namespaces it is in.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        cls.world = World(cls.families, cls.online)
        cls.addClassCleanup(cls.world.close)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.nothing_left)

    def orphans(self):
        """Processes that outlived their claudebox; those that ended are forgotten."""
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
        return sorted({*self.world.strangers(), *self.orphans()})

    def nothing_left(self):
        """For the end of a test, when what it started itself has ended."""
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
        """A command in a box; claudebox must start it."""
        done = self.claudebox("--network", "inet", *options, "--yes", "--exec", *command, **more)
        self.assertNotEqual(done.returncode, 125, done.stderr[-800:])
        return done

    def python(self, script, *arguments, options=(), **more):
        """A Python program in a box; it must end well, and print JSON."""
        done = self.inet("/usr/bin/python3", "-c", script, *map(str, arguments), options=options, **more)
        self.assertEqual(done.returncode, 0, done.stderr[-800:])
        return json.loads(done.stdout)

    def probe(self, table, options=()):
        return self.python(PROBE, json.dumps(table), options=options)

    def start(self, *command, options=(), **more):
        """A box that goes on running: a Session."""
        return Session(self, command, options, **more)

    def assertRefused(self, table, results, expected):
        """Every row with an error that `expected` gives for its protocol (and family: "ping6"), and at once."""
        wrong = [f"{protocol} {address} {port}: {outcome} after {seconds} s" for (protocol, address, port), (outcome, seconds)
                 in zip(table, results, strict=True)
                 if outcome not in expected["ping6" if protocol == "ping" and ":" in address else protocol] or seconds > AT_ONCE]
        self.assertEqual(wrong, [])

    def assertReached(self, table, results):
        wrong = [f"{protocol} {address} {port}: {outcome} after {seconds} s" for (protocol, address, port), (outcome, seconds)
                 in zip(table, results, strict=True) if outcome != "reached"]
        self.assertEqual(wrong, [])


class Session:
    """A started box, talked to by lines; the process is claudebox itself."""

    def __init__(self, test, command, options=(), **more):
        self.test = test
        self.mark = f"mark{os.getpid()}x{time.monotonic_ns()}"
        # The mark is an argument of the command, so that each part of the box can be found by it.
        wrapped = ["sh", "-c", '"$@"', self.mark, *command] if command[0] != "sh" else [*command, self.mark]
        self.said = tempfile.TemporaryFile("w+", encoding="utf-8")  # no pipe: it can be read at any time
        self.process = subprocess.Popen(test.command("--network", "inet", *options, "--yes", "--exec", *wrapped), env=test.env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, start_new_session=True, **more)
        test.addCleanup(self.end)

    def errors(self):
        """What is on its standard error so far."""
        return os.pread(self.said.fileno(), 1 << 20, 0).decode(errors="replace")

    def line(self):
        with bounded(self.process, 20):
            return self.process.stdout.readline().rstrip("\n")

    def expect(self, wanted="ready"):
        found = self.line()
        if found != wanted:
            self.process.kill()
            self.test.fail(f"{found!r} instead of {wanted!r}: {self.errors()[-800:]}")
        return self

    def say(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def probe(self, table):
        """For a session that runs the probe."""
        self.say(json.dumps(table))
        return json.loads(self.line())

    def finish(self, seconds=20):
        """Ends its input; exit status and error output."""
        self.process.stdin.close()
        with bounded(self.process, seconds):
            return self.process.wait(), self.errors()

    def gone(self, seconds=2):
        return until(lambda: not processes_with(self.mark), seconds)

    def end(self):
        self.process.kill()
        self.process.wait(10)
        for stream in (self.process.stdin, self.process.stdout, self.said):
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
