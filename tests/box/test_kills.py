# SPDX-License-Identifier: MIT
"""SIGKILL of any set of processes of a box at any moment of its start: a second later none is left.

A short sample by default; `make stress` runs 10,000 rounds. KILLS_SEED repeats a sequence.
"""
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, BoxTest, processes_with
from lib.inet import InetTest, name_of
from lib.stress import STRESS

AS_ROOT = True
SAMPLE = {"full": 30, "none": 30, "inet": 12}
ROUNDS = {"full": 100, "none": 100, "inet": 50}  # times STRESS: 5000 as a user and as root, if STRESS is 20
GONE_MS = 1000
# The end of one of these, of claudebox or of the agent ends the box. The end of pasta, the DNS relay or
# a child of the agent does not.
ESSENTIAL = {"bwrap", "claudebox-init"}


def children(pid):
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def family(pid):
    """Returns a process and its descendants, in the order of their creation."""
    found = [pid]
    for parent in found:
        found += children(parent)
    return found


def identity(pid):
    """Returns the start time of a process that runs; None if it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


class Kills:
    """Rounds in one tier. The class that mixes it in has command()."""

    tier = "full"
    delays = (0.0, 0.025)

    def setUp(self):
        super().setUp()
        self.random = random.Random(int(os.environ.get("KILLS_SEED") or time.monotonic_ns()))
        self.claudebox("--yes", "--network", self.tier, "--exec", "true")  # creates the state

    def remaining(self, seen, mark):
        """Returns what is left after the time is over, as (name, command line)."""
        end = time.monotonic() + GONE_MS / 1000
        while True:
            pids = [pid for pid, start in seen.items() if start and identity(pid) == start] or processes_with(mark)
            if not pids or time.monotonic() >= end:
                return [(name_of(pid), pid) for pid in pids]
            time.sleep(0.002)

    def round(self, number):
        """Starts a box and kills some of its processes. Returns a description of what is left."""
        mark = f"1000.{os.getpid()}{number}{time.monotonic_ns()}"
        process = subprocess.Popen(self.command("--yes", "--network", self.tier, "--exec", "sh", "-c", "sleep $0 & sleep $0", mark),
                                   cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        delay = self.random.uniform(*self.delays) if number % 10 else 0.2
        time.sleep(delay)
        pids = family(process.pid)
        seen = {pid: identity(pid) for pid in pids}
        count = 1 if self.random.random() < 0.4 else self.random.randint(1, len(pids))
        victims = self.random.sample(pids, count)
        names = [name_of(pid) for pid in victims]
        agents = [pid for parent in pids if name_of(parent) == "claudebox-init" for pid in children(parent)[:1]]
        essential = {process.pid, *agents, *(pid for pid in pids if name_of(pid) in ESSENTIAL)}
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not essential & set(victims):
            process.kill()
        seen |= {pid: identity(pid) for pid in family(process.pid)}
        left = self.remaining(seen, mark)
        for _, pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.kill()
        process.wait(10)
        return f"{self.tier}, round {number}, after {delay * 1000:.1f} ms killed {names}: left {left}" if left else None

    def test_nothing_is_left(self):
        rounds = ROUNDS[self.tier] * STRESS if STRESS > 1 else SAMPLE[self.tier]
        failures = [text for text in map(self.round, range(rounds)) if text]
        self.assertFalse(failures, "\n".join([f"{len(failures)} of {rounds} rounds", *failures]))


class KillsInFull(Kills, BoxTest):
    def command(self, *arguments):
        return [CLAUDEBOX, *arguments]


class KillsInNone(KillsInFull):
    tier = "none"


class KillsInInet(Kills, InetTest):
    tier = "inet"
    delays = (0.0, 0.08)


if __name__ == "__main__":
    unittest.main()
