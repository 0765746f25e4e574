# SPDX-License-Identifier: MIT
"""Connections into a box of the tier `inet` reach published ports only; refused connections are reported."""
import json
import os
import unittest

from lib.inet import InetTest
from lib.terminal import Terminal
from lib.world import CONNECT

AS_ROOT = True

HOST = ("127.0.0.1", "127.0.0.53", "192.168.77.5", "198.51.100.5", "172.17.0.1", "100.101.1.5", "::1", "2001:db8:1::5")
BOX = ("192.0.0.2", "2001:2::2")
PORT = 4711

# Listens on every address until the end of standard input, then prints the protocols that it has received.
LISTEN = r"""
import select, socket, sys
port = int(sys.argv[1])
streams = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
datagrams = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
datagrams.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
datagrams.bind(("::", port))
if "send" in sys.argv:
    # A sent datagram makes pasta open a port of the host that leads back to this socket.
    for address in ("::ffff:203.0.113.10", "2001:db8:f::10"):
        datagrams.sendto(b"x", (address, 80))
        datagrams.recv(100)
print("ready", flush=True)
received = []
while True:
    for ready in select.select([streams, datagrams, sys.stdin], [], [])[0]:
        if ready is sys.stdin:
            print("received", received, flush=True)
            sys.exit(7)
        if ready is streams:
            connection, peer = streams.accept()
            connection.settimeout(1)
            received.append("tcp")
            try:
                connection.sendall(b"reached box " + connection.recv(100))
            except OSError:
                pass
            connection.close()
        else:
            data, peer = datagrams.recvfrom(100)
            received.append("udp")
            try:
                datagrams.sendto(b"reached box " + data, peer)
            except OSError:
                pass
"""


class Inward(InetTest):
    def test_nothing_connects_in(self):
        before = self.world.sockets()
        session = self.start("/usr/bin/python3", "-c", LISTEN, PORT).expect()
        self.assertEqual(self.world.sockets() - before, set(), "the host has opened ports for the box")
        for place in (self.world.host, self.world.outside):
            table = [[protocol, address, PORT] for address in (*HOST, *BOX) for protocol in ("tcp", "udp")]
            outcomes = {outcome for outcome, _ in self.world.connect(table, place)}
            self.assertNotIn("reached", outcomes)
            self.assertNotIn("wrong", outcomes)
        session.process.stdin.close()
        session.expect("received []")

    def test_open_udp_port_accepts_known_peers_only(self):
        """A neighbour cannot send to the port that a datagram to another machine has opened on the host."""
        session = self.start("/usr/bin/python3", "-c", LISTEN, PORT, "send").expect()
        opened = sorted({line.split()[4].rsplit(":", 1)[1] for line in self.world.sockets() if line.startswith("udp")})
        for place in (self.world.outside, self.world.host):
            self.world.run("/usr/bin/python3", "-c", SPRAY, ",".join(opened), *HOST, pid=place)
        session.process.stdin.close()
        session.expect("received []")

    def test_host_opens_no_tcp_port(self):
        """Also while the box has TCP connections of both families."""
        before = {line for line in self.world.sockets() if line.startswith("tcp")}
        session = self.start("/usr/bin/python3", "-c", CONNECT).expect()
        table = [["tcp", "203.0.113.10", 80], ["tcp", "2001:db8:f::10", 80], ["ping", "203.0.113.10", 0]]
        self.assertReached(table, session.connect(table))
        self.assertEqual({line for line in self.world.sockets() if line.startswith("tcp")} - before, set())
        self.assertEqual(session.finish()[0], 0)


SPRAY = r"""
import socket, sys
for port in map(int, sys.argv[1].split(",")):
    for address in sys.argv[2:]:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            for _ in range(2):
                try:
                    datagrams.sendto(b"hello", (address, port))
                except OSError:
                    pass
"""


class Ports(InetTest):
    def test_host_port_is_one_port_of_the_hosts_loopback(self):
        table = [["tcp", "127.0.0.1", 8080], ["tcp", "127.0.0.1", 80]]
        results = self.connect(table, options=("--host-port", 8080))
        self.assertEqual(results[0][0], "reached")
        self.assertRefused(table[1:], results[1:], {"tcp": {"ECONNREFUSED"}})
        forbidden = [["tcp", address, 8080] for address in ("192.168.77.5", "192.168.77.10", "192.0.0.1", "172.17.0.1", "2001:db8:1::5")]
        self.assertRefused(forbidden, self.connect(forbidden, options=("--host-port", 8080)), {"tcp": {"ECONNREFUSED"}})

    def test_several_host_ports(self):
        table = [["tcp", "127.0.0.1", port] for port in (80, 8080, 443)]
        results = self.connect(table, options=("--host-port", 80, "--host-port", 8080))
        self.assertEqual([outcome for outcome, _ in results], ["reached", "reached", "ECONNREFUSED"])

    def test_host_port_reaches_a_loopback_service(self):
        """Also a service that listens on 127.0.0.1 only, like a database; here it is the name server."""
        done = self.python("import json, socket; socket.create_connection(('127.0.0.1', 53), 2).close(); print(json.dumps('reached'))",
                           options=("--host-port", 53))
        self.assertEqual(done, "reached")

    def test_a_host_port_where_nothing_listens(self):
        (outcome, _), = self.connect([["tcp", "127.0.0.1", 4712]], options=("--host-port", 4712))
        self.assertIn(outcome, ("ECONNREFUSED", "late ECONNRESET", "wrong"))

    def test_publish_is_one_port_of_the_box(self):
        session = self.start("/usr/bin/python3", "-c", LISTEN, PORT, options=("--publish", PORT)).expect()
        (outcome, _), = self.world.connect([["tcp", "127.0.0.1", PORT]])
        self.assertEqual(outcome, "reached")
        # The port is open neither on the host's other addresses nor for UDP.
        table = [["tcp", address, PORT] for address in HOST if address not in ("127.0.0.1",)] + [["udp", "127.0.0.1", PORT]]
        for place in (self.world.host, self.world.outside):
            self.assertNotIn("reached", {outcome for outcome, _ in self.world.connect(table, place)})
        session.process.stdin.close()
        session.expect("received ['tcp']")
        self.assertEqual(session.process.wait(10), 7)

    def test_a_published_port_is_free_again(self):
        for _ in range(2):
            session = self.start("/usr/bin/python3", "-c", LISTEN, PORT, options=("--publish", PORT)).expect()
            self.assertEqual(self.world.connect([["tcp", "127.0.0.1", PORT]])[0][0], "reached")
            self.assertEqual(session.finish()[0], 7)

    def test_a_published_port_in_use(self):
        self.refused("--network", "inet", "--publish", "8080", "--yes", "--exec", "echo", "started")
        session = self.start("/usr/bin/python3", "-c", LISTEN, PORT, options=("--publish", PORT)).expect()
        self.refused("--network", "inet", "--publish", PORT, "--yes", "--exec", "echo", "started")
        self.assertEqual(self.world.connect([["tcp", "127.0.0.1", PORT]])[0][0], "reached")
        self.assertEqual(session.finish()[0], 7)

    def test_wrong_ports(self):
        for option in ("--host-port", "--publish"):
            for port in ("0", "65536", "-1", "80x", "", "1-9", "80,81", "99999999999999999999"):
                done = self.claudebox("--network", "inet", option, port, "--yes", "--exec", "true")
                self.assertEqual(done.returncode, 2, f"{option} {port}: {done.stderr}")


class Refusals(InetTest):
    """Refused connections are reported at the end of a session."""

    table = [["tcp", "192.168.77.10", 22]] * 3 + [["udp", "169.254.169.254", 80]] * 2 + [["tcp", "2001:db8:1::10", 80], ["ping", "10.9.9.9", 0],
                                                                                         ["tcp", "203.0.113.10", 80]]

    def report(self, *command):
        ours, theirs = os.pipe()
        try:
            done = self.claudebox("--network", "inet", "--report-fd", theirs, "--yes", "--exec", *command, pass_fds=(theirs,))
        finally:
            os.close(theirs)
        with os.fdopen(ours, encoding="utf-8") as file:
            return done, json.load(file)

    def test_report(self):
        done, report = self.report("/usr/bin/python3", "-c", CONNECT, json.dumps(self.table))
        self.assertEqual(done.returncode, 0, done.stderr[-800:])
        self.assertEqual((report["version"], report["status"], report["network"]["tier"]), (1, 0, "inet"))
        refused = report["network"]["refused"]
        self.assertEqual(refused["total"], 7)
        found = {(entry["protocol"], entry["address"], entry.get("port")): entry["count"] for entry in refused["list"]}
        self.assertEqual(found, {("tcp", "192.168.77.10", 22): 3, ("udp", "169.254.169.254", 80): 2, ("tcp", "2001:db8:1::10", 80): 1,
                                 ("icmp", "10.9.9.9", 0): 1})
        self.assertEqual(refused["list"][0]["count"], 3, "the most frequent comes first")

    def test_report_without_refusals(self):
        done, report = self.report("sh", "-c", "exit 7")
        self.assertEqual((done.returncode, report["status"]), (7, 7))
        self.assertEqual(report["network"]["refused"], {"total": 0, "list": []})

    def test_report_stays_on_its_descriptor(self):
        """The box neither inherits the descriptor nor sees the report on its standard streams."""
        done, _ = self.report("sh", "-c", "ls /proc/self/fd")
        self.assertEqual([number for number in done.stdout.split() if int(number) > 3], [])
        self.assertNotIn("refused 0", done.stderr[-800:])

    def interactive(self, table, columns=200, **env):
        command = self.command("--network", "inet", "--yes", "--exec", "/usr/bin/python3", "-c", CONNECT, json.dumps(table))
        terminal = Terminal(command, {**self.env, **env}, self.project, columns=columns)
        self.addCleanup(terminal.close)
        self.assertEqual(terminal.wait(20), 0, terminal.output[-500:])
        return terminal.output.decode()

    def test_a_line_at_the_end_of_a_session(self):
        output = self.interactive(self.table)
        self.assertRegex(output, r"(?m)^network: refused 7 connections \(192\.168\.77\.10:22 ×3, 169\.254\.169\.254:80(/udp)? ×2[^\n]*\)\r?$")

    def test_the_line_fits_the_terminal(self):
        lines = self.interactive(self.table, columns=40, LC_ALL="C").replace("\r", "").split("\nnetwork: refused ")[1].splitlines()
        self.assertLessEqual(max(map(len, lines)), 40)
        self.assertRegex(" ".join(lines), r"\A7 connections +\(192\.168\.77\.10:22 +x3, +169")

    def test_no_line_when_nothing_was_refused(self):
        self.assertNotIn("network: refused", self.interactive([["tcp", "203.0.113.10", 80]]))

    def test_one_line_in_a_pipe(self):
        """Also with -p, whose output is that of claude alone; --quiet shows errors only."""
        self.env["CLAUDEBOX_CLAUDE"] = str(self.home / "claude")
        (self.home / "claude").write_text(f"#!/usr/bin/python3\nimport sys\nsys.argv[1] = {json.dumps(self.table)!r}\n{CONNECT}")
        (self.home / "claude").chmod(0o755)
        line = r"(?m)^network: refused 7 connections \(192\.168\.77\.10:22 [×x]3, 169\.254\.169\.254:80(/udp)? [×x]2[^\n]*\)$"
        for words in (("--exec", "/usr/bin/python3", "-c", CONNECT, json.dumps(self.table)), ("-p", "hello")):
            with self.subTest(words[0]):
                done = self.claudebox("--network", "inet", "--yes", *words)
                self.assertRegex(done.stderr, line)
                self.assertNotIn("network:", done.stdout)
                quiet = self.claudebox("--network", "inet", "--quiet", "--yes", *words)
                self.assertEqual([name for name, _ in json.loads(quiet.stdout)], [name for name, _ in json.loads(done.stdout)])
                self.assertNotIn("network:", quiet.stderr)
        self.assertNotIn("network:", self.inet("true").stderr)

    def test_a_flood_of_refusals(self):
        """Many addresses: all of them are refused and counted."""
        done, report = self.report("/usr/bin/python3", "-c", FLOOD)
        self.assertEqual(done.stdout.strip(), "3000", done.stderr[-800:])
        self.assertEqual(report["network"]["refused"]["total"], 3000)


FLOOD = """
import socket
refused = 0
for number in range(3000):
    with socket.socket() as connection:
        connection.settimeout(1)
        try:
            connection.connect((f"10.1.{number % 250}.{number // 250 + 1}", 1 + number))
        except ConnectionRefusedError:
            refused += 1
print(refused)
"""


if __name__ == "__main__":
    unittest.main()
