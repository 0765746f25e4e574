# SPDX-License-Identifier: MIT
"""The comparison with other sandboxes: how results are counted, and that its namespaces are
isolated from this machine."""
import fnmatch
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import unittest

from lib.canaries import ATTACKS, GROUPS, OPEN_IN_FULL
from lib.peers import PACKAGES, WAYS, Way, count, fill_in, judge, show_attacks, show_start, show_verdict
from lib.peers_run import from_outside

STAGE = pathlib.Path(os.environ["STAGE"])
INSIDE = """
import json, os, socket

def fails(action, *arguments):
    try:
        action(*arguments)
    except OSError:
        return True
    return False

print(json.dumps({
    "no process is signalled": fails(os.kill, -1, 0),
    "no connection": fails(socket.create_connection, ("127.0.0.1", PORT), 5),
    "interfaces": sorted(name for _, name in socket.if_nameindex()),
    "home": os.listdir(os.environ["HOME"]),
    "terminals": os.listdir("/dev/pts"),
    "temporary files are others": not os.path.exists("PEERS"),
    "peer": os.readlink("/usr/local/bin/peer"),
    "uid": os.getuid(),
}))
"""


class Judging(unittest.TestCase):
    GROUPS = {"files-a": "files", "files-b": "files", "keys-a": "keys"}
    RESULTS = {"files-a": ("leaked", "x"), "files-b": ("blocked", "x"), "keys-a": ("skipped", "x")}

    def test_only_a_broken_promise_is_a_leak(self):
        for way, expected in ((Way("x", ()), "open"), (Way("x", (), ("files-*",)), "leaked"), (Way("x", (), ("files-b", "keys-*")), "open"),
                              (Way("x", (), ("*",), ("files-a",)), "open")):
            with self.subTest(way):
                self.assertEqual(judge(way, self.RESULTS), {**self.RESULTS, "files-a": (expected, "x")})

    def test_no_promise_makes_a_leak_of_a_blocked_attack(self):
        results = {attack: ("blocked", "") for attack in self.GROUPS}
        self.assertEqual(judge(Way("x", (), ("*",)), results), results)

    def test_counts(self):
        self.assertEqual(count(self.RESULTS, self.GROUPS), {"files": {"leaked": 1, "blocked": 1}, "keys": {"skipped": 1}})

    def test_the_table_shows_leaks_and_missing_peers(self):
        head, first, second, third = show_attacks({"a": self.RESULTS, "bb": judge(Way("bb", ()), self.RESULTS), "c": "missing"}, self.GROUPS)
        self.assertEqual(head.split(), ["files", "keys", "blocked", "open", "leaked", "not", "tried"])
        self.assertEqual(first.split(), ["a", "1/2!", "0/0", "1", "0", "1", "1"])
        self.assertEqual(second.split(), ["bb", "1/2", "0/0", "1", "1", "0", "1"])
        self.assertEqual(third.split(), ["c", "missing"])
        self.assertEqual(list(show_verdict({"a": self.RESULTS, "c": "missing"}, self.GROUPS, "leaked")), ["a: files: a"])

    def test_a_ratio_is_of_the_same_round(self):
        base, slow = show_start({"base": [1, 100, 1], "slow": [2, 200, 3]}, "base")
        self.assertRegex(base, r" 1\.00 times$")
        self.assertRegex(slow, r" 3\.00 ms median +2\.00 ms least +2\.00 times$")

    def test_only_known_words_are_filled_in(self):
        self.assertEqual(fill_in('{"a": {}} {home}/{other}', {"home": "/h"}), '{"a": {}} /h/{other}')


class Ways(unittest.TestCase):
    def test_each_pattern_means_something(self):
        for way in WAYS:
            for pattern in (*way.promises, *way.but):
                self.assertTrue(fnmatch.filter(ATTACKS, pattern), f"{way.name}: {pattern}")

    def test_claudebox_is_held_to_everything_but_what_its_tiers_open(self):
        ways = {way.name: way for way in WAYS}
        broken = {name: {attack for attack in GROUPS if not ways[name].promised(attack)} for name in ("claudebox", "claudebox, inet", "claudebox, none")}
        self.assertEqual(broken, {"claudebox": OPEN_IN_FULL, "claudebox, inet": {"network-outside", "network-interfaces"}, "claudebox, none": set()})

    def test_versions_are_pinned(self):
        for _, version in PACKAGES.values():
            self.assertRegex(version, r"^\d+\.\d+\.\d+$")

    def test_names_are_different(self):
        self.assertEqual(len({way.name for way in WAYS}), len(WAYS))


class FromOutside(unittest.TestCase):
    """Verdicts that the host corrects."""

    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)

    def test_a_file_that_was_created_and_removed(self):
        why = f"{self.directory}/claudebox-canary-attack was created"
        changed = os.stat(self.directory).st_mtime
        self.assertEqual(from_outside("write-system", "leaked", why, changed - 1)[0], "leaked")
        self.assertEqual(from_outside("write-system", "leaked", why, changed + 1)[0], "blocked")
        self.assertEqual(from_outside("write-autostart", "leaked", why, changed + 1)[0], "leaked")
        self.assertEqual(from_outside("write-system", "blocked", "EROFS", changed + 1), ("blocked", "EROFS"))

    def test_a_root_that_was_left_is_not_empty(self):
        why = f"{self.directory}/. can be opened"
        self.assertEqual(from_outside("files-old-root", "leaked", why, 0)[0], "blocked")
        pathlib.Path(self.directory, "etc").mkdir()
        self.assertEqual(from_outside("files-old-root", "leaked", why, 0)[0], "leaked")
        self.assertEqual(from_outside("files-old-root", "leaked", "/nowhere/. can be opened", 0)[0], "leaked")


class Machine(unittest.TestCase):
    def test_nothing_there_reaches_here(self):
        peers = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, peers)
        (peers / "x/bin").mkdir(parents=True)
        (peers / "x/bin/peer").touch()
        for terminal in os.openpty():
            self.addCleanup(os.close, terminal)
        with socket.create_server(("127.0.0.1", 0)) as server:
            script = INSIDE.replace("PORT", str(server.getsockname()[1])).replace("PEERS", str(peers))
            done = subprocess.run(["/usr/bin/python3", STAGE / "tests/lib/peers_inside.py", str(os.getuid()), peers, "/usr/bin/python3", "-c", script],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=30, check=True)
        self.assertEqual(json.loads(done.stdout), {
            "no process is signalled": True, "no connection": True, "interfaces": ["end", "lo", "out"], "home": [],
            "terminals": ["ptmx"], "temporary files are others": True, "peer": "../peers/x/bin/peer", "uid": os.getuid()})


if __name__ == "__main__":
    unittest.main()
