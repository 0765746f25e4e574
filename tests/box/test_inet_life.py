# SPDX-License-Identifier: MIT
"""Life cycle of a box in the tier `inet`: exit status, signals, killed helpers, and changes of the host's network."""
import concurrent.futures
import os
import signal
import subprocess
import unittest

from lib.box import processes_with, until
from lib.inet import InetTest, name_of
from lib.stress import STRESS
from lib.world import CONNECT

AS_ROOT = True

FORBIDDEN = [["tcp", "192.168.77.10", 80], ["udp", "192.168.77.5", 80], ["tcp", "2001:db8:1::10", 80]]
REFUSED = {"tcp": {"ECONNREFUSED"}, "udp": {"EHOSTUNREACH"}}
DISCONNECTED = {"tcp": {"ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "silent"}, "udp": {"EHOSTUNREACH", "ENETUNREACH", "silent"}}
BOXES = 30  # a user has 128 instances of inotify, and a box of this tier needs up to 3


class Ends(InetTest):
    def pastas(self):
        return [pid for pid in self.world.other_processes() if name_of(pid).startswith(("pasta", "passt"))]

    def test_exit_status_is_passed_on(self):
        for code in (0, 1, 7, 124, 126, 130, 255):
            self.assertEqual(self.inet("sh", "-c", f"exit {code}").returncode, code)
        self.assertEqual(self.claudebox("--network", "inet", "--yes", "--exec", "no-such-program").returncode, 127)

    def test_signal_in_the_box_sets_the_exit_status(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGHUP):
            self.assertEqual(self.inet("sh", "-c", f"kill -{int(number)} $$").returncode, 128 + number)

    def test_a_signal_to_claudebox_reaches_the_agent(self):
        session = self.start("sh", "-c", "trap 'exit 42' TERM; echo ready; while :; do sleep 0.05; done").expect()
        session.process.terminate()
        self.assertEqual(session.process.wait(10), 42)
        session = self.start("sh", "-c", "echo ready; exec sleep 1000").expect()
        session.process.terminate()
        self.assertIn(session.process.wait(10), (143, -signal.SIGTERM))

    def test_pasta_ends_with_the_box(self):
        session = self.start("/usr/bin/python3", "-c", CONNECT).expect()
        self.assertEqual(len(self.pastas()), 1)
        self.assertEqual(session.finish()[0], 0)
        self.assertEqual(self.world.other_processes(), [], "pasta ends before claudebox, not some time later")

    def test_box_continues_without_network_when_pasta_dies(self):
        """The box continues without any network, claudebox reports that to the user, and the exit status is the agent's."""
        session = self.start("sh", "-c", '/usr/bin/python3 -c "$0"; exit 7', CONNECT).expect()
        self.assertReached([["tcp", "203.0.113.10", 80]], session.connect([["tcp", "203.0.113.10", 80]]))
        for pid in self.pastas():
            os.kill(pid, signal.SIGKILL)
        self.assertTrue(until(lambda: "network disconnected" in session.errors(), 3), session.errors()[-400:])
        self.assertEqual(self.pastas(), [])
        table = [["tcp", "203.0.113.10", 80], ["udp", "203.0.113.10", 80], *FORBIDDEN]
        for (protocol, address, _), (outcome, _) in zip(table, session.connect(table), strict=True):
            self.assertIn(outcome, DISCONNECTED[protocol], address)
        status, errors = session.finish()
        self.assertEqual((status, errors.count("network disconnected")), (7, 1))

    def kill_part(self, part):
        session = self.start("/usr/bin/python3", "-c", CONNECT).expect()
        pids = {"claudebox": [session.process.pid], "bwrap": [pid for pid in self.world.other_processes() if name_of(pid) == "bwrap"],
                "agent": [pid for pid in processes_with(session.mark) if name_of(pid) in ("python3", "sh")]}
        self.assertTrue(pids[part], f"no {part}")
        for pid in pids[part]:
            os.kill(pid, signal.SIGKILL)
        self.assertTrue(session.gone(3), f"{[name_of(pid) for pid in processes_with(session.mark)]} outlive {part}")
        self.assertTrue(until(lambda: not self.world.other_processes(), 3), f"{[name_of(pid) for pid in self.world.other_processes()]} outlive {part}")
        return session.process.wait(10)

    def test_nothing_survives_when_claudebox_is_killed(self):
        self.assertEqual(self.kill_part("claudebox"), -signal.SIGKILL)

    def test_nothing_survives_when_bwrap_is_killed(self):
        self.assertNotEqual(self.kill_part("bwrap"), 0)

    def test_nothing_survives_when_the_agent_is_killed(self):
        self.assertEqual(self.kill_part("agent"), 137)

    def test_nothing_survives_when_claudebox_is_killed_during_the_start(self):
        """At any time during the start, no process survives and no agent starts without rules."""
        for number in range(24 * STRESS):
            process = subprocess.Popen(self.command("--network", "inet", "--yes", "--exec", "sleep", "1000"), env=self.env,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(0.004 * number / STRESS)
            except subprocess.TimeoutExpired:
                pass
            process.kill()
            process.wait(10)
            self.assertTrue(until(lambda: not self.left(), 2), f"{[name_of(pid) for pid in self.left()]} after {number}")

    def test_thirty_boxes_at_once(self):
        def begin(number):
            return self.start("sh", "-c", f"echo ready; read line; exit {number % 7}").expect()

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            sessions = list(pool.map(begin, range(BOXES)))
        self.assertEqual(len(self.pastas()), BOXES)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            ends = list(pool.map(lambda session: session.finish(30), sessions))
        self.assertEqual([status for status, _ in ends], [number % 7 for number in range(BOXES)], [errors for _, errors in ends if errors][:1])
        self.assertEqual(self.world.other_processes(), [])


class Changes(InetTest):
    """The host's network changes while a box runs: a new address and its network are refused within seconds."""

    def test_new_address_of_the_host_is_refused(self):
        table = [["tcp", "198.51.101.10", 80], ["tcp", "2001:db8:2::10", 80]]
        own = [["tcp", "198.51.101.5", 80], ["udp", "198.51.101.5", 80]]
        session = self.start("/usr/bin/python3", "-c", CONNECT).expect()
        self.assertReached(table, session.connect(table))
        self.world.run("ip", "addr", "add", "198.51.101.5/24", "dev", "eth1")
        self.world.run("ip", "addr", "add", "2001:db8:2::5/64", "dev", "eth1", "nodad")
        self.world.run("ip", "addr", "add", "198.51.101.99/24", "dev", "public", pid=self.world.outside)
        self.world.run("ip", "addr", "add", "2001:db8:2::10/64", "dev", "public", "nodad", pid=self.world.outside)
        self.assertReached(table, self.world.connect(table))
        self.assertTrue(until(lambda: {outcome for outcome, _ in session.connect(table)} == {"ECONNREFUSED"}, 3), session.connect(table))
        self.assertRefused(own, session.connect(own), REFUSED)
        self.assertRefused(FORBIDDEN, session.connect(FORBIDDEN), REFUSED)
        self.assertReached([["tcp", "203.0.113.10", 80]], session.connect([["tcp", "203.0.113.10", 80]]))
        self.assertEqual(session.finish()[0], 0)

    def test_new_network_of_the_host_is_refused(self):
        """As after a laptop was suspended: the new LAN is refused, and private addresses are still refused."""
        session = self.start("/usr/bin/python3", "-c", CONNECT).expect()
        self.world.run("sh", "-c", "ip addr add 198.51.102.5/24 dev eth0; ip route replace default via 198.51.102.1 dev eth0; "
                       "ip addr del 192.168.77.5/24 dev eth0")
        self.world.run("sh", "-c", "ip addr add 198.51.102.1/24 dev lan; ip addr add 198.51.102.10/24 dev lan", pid=self.world.outside)
        self.addCleanup(self.world.run, "sh", "-c", "ip addr add 192.168.77.5/24 dev eth0; ip route replace default via 192.168.77.1 dev eth0; "
                        "ip addr del 198.51.102.5/24 dev eth0")
        new = [["tcp", "198.51.102.10", 80], ["tcp", "198.51.102.5", 80], ["tcp", "198.51.102.1", 80]]
        self.assertReached(new, self.world.connect(new))
        self.assertTrue(until(lambda: {outcome for outcome, _ in session.connect(new)} == {"ECONNREFUSED"}, 3), session.connect(new))
        self.assertRefused(FORBIDDEN[:1], session.connect(FORBIDDEN[:1]), REFUSED)
        self.assertEqual(session.finish()[0], 0)

    def test_network_of_a_route_without_gateway_is_refused(self):
        """As with a VPN: a public network is behind an interface, and the host has no address in it."""
        table = [["tcp", "198.51.103.10", 80], ["tcp", "2001:db8:3::10", 80]]
        self.world.run("sh", "-c", "ip addr add 198.51.103.10/32 dev public; ip addr add 2001:db8:3::10/128 dev public nodad",
                       pid=self.world.outside)
        self.world.run("sh", "-c", "ip route add 198.51.103.0/24 dev eth1; ip -6 route add 2001:db8:3::/64 dev eth1")
        self.addCleanup(self.world.run, "sh", "-c", "ip route del 198.51.103.0/24 dev eth1; ip -6 route del 2001:db8:3::/64 dev eth1")
        self.assertReached(table[:1], self.world.connect(table[:1]))
        self.assertRefused(table, self.connect(table), REFUSED)


class Missing(InetTest):
    """If a helper is missing or fails, nothing starts, and the message has the reason and a hint. The tier is never widened."""

    def fails(self, *words):
        message = self.refused("--network", "inet", "--yes", "--exec", "echo", "started")
        for word in words:
            self.assertIn(word, message)
        self.assertTrue(until(lambda: not self.left(), 1), "a process has survived")

    def cover(self, path, source):
        self.addCleanup(self.world.uncover, self.world.cover(path, source))

    def script(self, text):
        self.world.write("/run/script", f"#!/bin/sh\n{text}\n")
        self.world.run("chmod", "755", "/run/script")
        return "/run/script"

    def test_no_pasta(self):
        self.cover("/usr/bin/pasta", "/dev/null")
        self.fails("pasta")

    def test_pasta_fails(self):
        self.cover("/usr/bin/pasta", self.script("echo 'no good reason' >&2; exit 1"))
        self.fails("pasta")

    def test_no_nft(self):
        self.cover("/usr/sbin/nft", "/dev/null")
        self.fails("nft")

    def test_nft_fails(self):
        self.cover("/usr/sbin/nft", self.script("cat >/dev/null; echo 'no such module' >&2; exit 1"))
        self.fails("nft")

    def test_nft_ends_early(self):
        """Also if nft does not read its input."""
        self.cover("/usr/sbin/nft", self.script("exit 1"))
        self.fails("nft")

    def test_no_tun(self):
        self.world.run("mkdir", "-p", "/run/empty")
        self.cover("/dev/net", "/run/empty")
        self.fails("/dev/net/tun")

    def test_other_tiers_need_no_helpers(self):
        self.cover("/usr/bin/pasta", "/dev/null")
        self.cover("/usr/sbin/nft", "/dev/null")
        for tier in ("full", "none"):
            self.assertEqual(self.claudebox("--network", tier, "--yes", "--exec", "true").returncode, 0)


class Offline(InetTest):
    online = False

    def test_offline_host_is_refused(self):
        message = self.refused("--network", "inet", "--yes", "--exec", "echo", "started")
        self.assertRegex(message, "offline|route")


class OneFamily:
    """A host with one address family: that family works, the other fails at once, and the rules apply."""

    def test_one_family(self):
        works = {"4": "203.0.113.10", "6": "2001:db8:f::10"}
        forbidden = {"4": ("192.168.77.10", "192.168.77.5", "169.254.169.254"), "6": ("2001:db8:1::10", "2001:db8:1::5", "fd00:ec2::254")}
        other = "6" if self.families == "4" else "4"
        table = [[protocol, works[self.families], 80] for protocol in ("tcp", "udp", "ping")]
        table += [["tcp", address, 80] for address in forbidden[self.families]]
        table += [["tcp", address, 80] for address in (works[other], *forbidden[other])]
        results = self.connect(table)
        self.assertReached(table[:3], results[:3])
        self.assertRefused(table[3:6], results[3:6], REFUSED)
        self.assertRefused(table[6:], results[6:], {"tcp": {"ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL"}})

    def test_one_family_resolves_names(self):
        self.world.write("/etc/resolv.conf", f"nameserver {'192.168.77.1' if self.families == '4' else '2001:db8:1::1'}\n")
        done = self.inet("getent", "ahosts", "which.test")
        self.assertIn("192.0.2.77" if self.families == "4" else "192.0.2.61", done.stdout)


class FourOnly(OneFamily, InetTest):
    families = "4"


class SixOnly(OneFamily, InetTest):
    families = "6"


if __name__ == "__main__":
    unittest.main()
