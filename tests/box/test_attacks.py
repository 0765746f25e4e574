# SPDX-License-Identifier: MIT
"""Every attack of --prove (src/prove/attacks.def), in every tier, as an ordinary user and as
root."""
import os
import pathlib
import re
import unittest

from box import kernel
from lib.broken import Broken, WorldTest

AS_ROOT = True

SOURCE = pathlib.Path(os.environ["STAGE"]) / "src/prove/attacks.def"
TIERS = ("none", "inet", "full")
# Attacks that the tier intends to succeed, and the boot id, which the kernel shows to every
# process.
OPEN = {"none": {"identity-boot-id"}, "inet": {"identity-boot-id", "network-outside"},
        "full": {"identity-boot-id", "identity-interfaces", "sockets-list", "network-loopback-tcp", "network-loopback-udp", "network-host-tcp",
                 "network-host-udp", "network-mapped", "network-unspecified", "network-incoming", "network-metadata", "network-private", "network-gateway",
                 "network-multicast", "network-dns", "network-outside", "network-interfaces"}}
# Attacks without a target on some machines, kernels or in this test: a terminal, x32, certain files
# ...
SKIPPED = {"files-others", "files-claude", "files-plugins", "terminal-steal", "terminal-user", "terminal-foreground",
           "terminal-exclusive", "identity-mount-sources", "identity-machine-id", "identity-users",
           "limits-in-force", "limits-lift", "kernel-inotify", "terminal-tiocsti-32", "terminal-tiocsti-x32", "kernel-32-bit", "kernel-x32", "kernel-ports"}


def attacks():
    rows = re.findall(r"^(?:PLACE_)?ATTACK\((\w+), \"([\w-]+)\", ", SOURCE.read_text(encoding="utf-8"), re.M)
    return [(name.lower().replace("_", "-"), group) for name, group in rows]


class Attacks(WorldTest):
    def attack(self, tier):
        done, proof = Broken(self).prove("--network", tier)
        self.assertIsNotNone(proof, done.stderr[-800:])
        self.assertTrue(proof["complete"], done.stderr[-800:])
        self.assertEqual([(row["name"], row["group"]) for row in proof["attacks"]], attacks())
        for row in proof["attacks"]:
            # Before Linux 7.1 the kernel cannot block a socket in a mounted directory.
            if row["name"] == "sockets-mounted":
                self.assertEqual(row["verdict"], "blocked" if kernel.landlock_version() >= 9 else "open")
                continue
            with self.subTest(row["name"], tier=tier):
                allowed = {"blocked"}
                allowed |= {"open"} if row["name"] in OPEN[tier] else set()
                allowed |= {"leaked"} if row["name"] in kernel.leaks(tier) else set()
                allowed |= {"skipped"} if row["name"] in SKIPPED else set()
                self.assertIn(row["verdict"], allowed, row["why"])
        self.assertEqual(proof["leaked"], len(kernel.leaks(tier)))
        self.assertEqual(done.returncode, 1 if proof["leaked"] else 0)

    def test_there_are_enough(self):
        self.assertGreaterEqual(len(set(attacks())), 186)
        self.assertEqual(len(set(attacks())), len(attacks()))

    def test_in_none(self):
        self.attack("none")

    def test_in_inet(self):
        self.attack("inet")

    def test_in_full(self):
        self.attack("full")


if __name__ == "__main__":
    unittest.main()
