# SPDX-License-Identifier: MIT
"""The tier `inet` refuses every destination that a route of the host makes the host itself, its neighbour or its router (in a World)."""
import time
import unittest

from lib.box import until
from lib.inet import InetTest
from lib.world import CONNECT

AS_ROOT = True

# Each row: addresses that are then forbidden, commands on the host, commands outside.
ROUTES = {
    "a prefix of the host itself": (
        ("203.0.115.1", "203.0.115.254", "2001:db8:a::1", "2001:db8:a::ffff"),
        "ip route add local 203.0.115.0/24 dev lo; ip -6 route add local 2001:db8:a::/64 dev lo", ""),
    "a prefix of the host in another table": (
        ("2001:db8:b::9",), "ip -6 rule add to 2001:db8:b::/64 lookup 1000; ip -6 route add local 2001:db8:b::/64 dev lo table 1000", ""),
    "several next hops without a router": (
        ("198.51.104.10",), "ip route add 198.51.104.0/24 nexthop dev eth0 nexthop dev eth1", "ip addr add 198.51.104.10/32 dev public"),
    "a next-hop object without a router": (
        ("198.51.105.10",), "ip nexthop add id 7 dev eth1; ip route add 198.51.105.0/24 nhid 7", "ip addr add 198.51.105.10/32 dev public"),
    "a router outside of the host's networks": (
        ("198.51.106.1", "198.51.106.2", "2001:db8:6::1"),
        "ip route add 203.0.117.0/24 via 198.51.106.1 dev eth1 onlink; ip route add 203.0.118.0/24 via inet6 2001:db8:6::1 dev eth1 onlink; "
        "ip route add 203.0.119.0/24 nexthop via 198.51.106.2 dev eth1 onlink nexthop via 192.168.77.1 dev eth0",
        "ip addr add 198.51.106.1/32 dev lo; ip addr add 198.51.106.2/32 dev lo; ip addr add 2001:db8:6::1/128 dev lo"),
}
ALLOWED = [["tcp", "203.0.113.10", 80], ["tcp", "2001:db8:f::10", 80]]


def rows(addresses):
    return [["tcp", address, 80] for address in addresses]


class Routes(InetTest):
    def test_destinations_of_routes_are_refused(self):
        """In a running box within milliseconds, and in a box that starts later."""
        session = self.start("/usr/bin/python3", "-c", CONNECT).expect()
        # The route of a transparent proxy: only packets with a mark use it.
        self.world.run("sh", "-c", "ip rule add fwmark 1 lookup 200; ip route add local default dev lo table 200")
        for name, (addresses, host, outside) in ROUTES.items():
            with self.subTest(name):
                if outside:
                    self.world.run("sh", "-ec", outside, pid=self.world.outside)
                self.world.run("sh", "-ec", host)
                started = time.monotonic()
                self.assertReached(rows(addresses), self.world.connect(rows(addresses)))  # control: the host reaches them
                self.assertTrue(until(lambda wanted=rows(addresses): {outcome for outcome, _ in session.connect(wanted)} == {"ECONNREFUSED"}, 2),
                                session.connect(rows(addresses)))
                self.assertLess(time.monotonic() - started, 2)
        self.assertReached(ALLOWED, session.connect(ALLOWED))
        table = [row for addresses, _, _ in ROUTES.values() for row in rows(addresses)]
        results = self.connect([*table, *ALLOWED])
        self.assertRefused(table, results[:len(table)], {"tcp": {"ECONNREFUSED"}})
        self.assertReached(ALLOWED, results[len(table):])
        # A prefix that is shorter than that of any local network: the host is all of it.
        self.world.run("ip", "route", "add", "local", "202.0.0.0/7", "dev", "lo")
        self.assertTrue(until(lambda: session.connect(ALLOWED[:1])[0][0] == "ECONNREFUSED", 2))
        self.world.run("ip", "route", "del", "local", "202.0.0.0/7", "dev", "lo")
        self.assertTrue(until(lambda: session.connect(ALLOWED[:1])[0][0] == "reached", 2))
        self.assertEqual(session.finish()[0], 0)


if __name__ == "__main__":
    unittest.main()
