# SPDX-License-Identifier: MIT
"""Base class of the Python tests: a home directory, a project, and claudebox in it."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

CLAUDEBOX = os.environ["CLAUDEBOX"]
# The first arguments of claude in every box, as the fake claude prints them.
GIVEN = '<--dangerously-skip-permissions><--settings><{"sandbox":{"enabled":false}}>'


class BoxTest(unittest.TestCase):
    """Each test has a new home directory below the user's own, which is removed afterwards."""

    under_test = CLAUDEBOX

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="claudebox-test-", dir=os.path.expanduser("~")))
        self.addCleanup(self._remove, self.home)
        self.project = self.home / "project"
        self.project.mkdir()
        self.env = {
            "HOME": str(self.home),
            "USER": os.environ["USER"],
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "ASAN_OPTIONS": os.environ["ASAN_OPTIONS"],
            "UBSAN_OPTIONS": os.environ["UBSAN_OPTIONS"],
            # Prints its arguments. Tests of the real claude set another path.
            "CLAUDEBOX_CLAUDE": str(self.fake_claude()),
        }

    @staticmethod
    def _remove(path):
        subprocess.run(["chmod", "-R", "u+rwX", path], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(path, ignore_errors=True)

    def scratch(self):
        """Creates a directory outside the home directory, removed after the test."""
        path = pathlib.Path(tempfile.mkdtemp(prefix="claudebox-test-", dir="/var/tmp"))
        self.addCleanup(self._remove, path)
        return path

    def fake_claude(self, body='printf "<%s>" "$@"; echo'):
        path = self.home / "bin" / "claude"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def claudebox(self, *arguments, cwd=None, env=None, **options):
        """Runs claudebox and captures its output. Fails when it does not end within the timeout."""
        options.setdefault("timeout", 60)
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run([self.under_test, *map(str, arguments)], cwd=cwd or self.project, env={**self.env, **(env or {})},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="surrogateescape",
                              check=False, **options)

    def box(self, script, *arguments, cwd=None, env=None, **options):
        """Runs a shell script in the box and returns its standard output. Fails when the box does not start."""
        done = self.claudebox("--yes", "--exec", "sh", "-c", script, "sh", *arguments, cwd=cwd, env=env, **options)
        self.assertNotEqual(done.returncode, 125, done.stderr)
        return done.stdout

    def refused(self, *arguments, cwd=None, env=None, status=125):
        """Checks that claudebox refuses to start, with a message and a hint. Returns its error output."""
        done = self.claudebox(*(arguments or ("--yes", "--exec", "true")), cwd=cwd, env=env)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, r"(?m)^claudebox: ")
        self.assertRegex(done.stderr, r"(?m)^hint: ")
        self.assertEqual(done.stdout, "")
        return done.stderr

    def profile(self, name="default", **keys):
        """Writes a profile with these keys; without a name, the default profile."""
        place = self.home / ".claudebox" / "profiles" / f"{name}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.parent.parent.chmod(0o700)
        place.write_text(json.dumps(keys))

    def plan(self, *arguments, cwd=None, env=None):
        """Returns the plan of --dry-run=json."""
        done = self.claudebox("--dry-run=json", *arguments, cwd=cwd, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def git(self, *arguments, cwd=None):
        """Runs git on the host, with the home directory of the test."""
        return subprocess.run(["git", *map(str, arguments)], cwd=cwd or self.project, env=self.env, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout

    def repository(self, path, name="Ann", email="ann@example.org"):
        """Creates a repository with one commit, and sets the user's name and e-mail on the host."""
        path.mkdir(parents=True, exist_ok=True)
        self.git("config", "--global", "user.name", name, cwd=self.home)
        self.git("config", "--global", "user.email", email, cwd=self.home)
        self.git("init", "-q", "-b", "main", path)
        (path / "file.txt").write_text("one\n")
        self.git("add", ".", cwd=path)
        self.git("commit", "-qm", "first", cwd=path)
        return path


def unless(condition):
    """Returns a decorator that removes a test which this user cannot run. The module runs as a user and as root."""
    return (lambda test: None) if condition else (lambda test: test)


def until(condition, seconds=5.0):
    """Waits until a condition is true. Returns whether it became true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())


# A script for python3 -c that uses the box's loopback interface, by IPv4 and IPv6.
LOOPBACK = """
import socket
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    server = socket.socket(family)
    server.bind((address, 0))
    server.listen()
    client = socket.create_connection(server.getsockname()[:2], 2)
    client.sendall(b"x")
    print(server.accept()[0].recv(1).decode())
"""


def processes_with(mark):
    """Returns the ids of processes whose command line contains this mark."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def tree(path):
    """Returns every path below a directory with its mode and content, to compare them later."""
    seen = {}
    for directory, names, files in os.walk(path):
        for name in names + files:
            full = os.path.join(directory, name)
            status = os.lstat(full)
            content = None
            if os.path.islink(full):
                content = os.readlink(full)
            elif os.path.isfile(full):
                with open(full, "rb") as file:
                    content = file.read()
            seen[os.path.relpath(full, path)] = (status.st_mode, content)
    return seen


def without_sessions(state):
    """Returns what tree() found in ~/.claudebox without what each session writes: snapshots, reports, records of protected places."""
    return {path: value for path, value in state.items() if not any(f"/{name}" in path for name in ("snapshots", "report-", "guarded-"))}
