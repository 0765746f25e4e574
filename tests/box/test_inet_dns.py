# SPDX-License-Identifier: MIT
"""NET-02: names in the tier `inet`, whatever kind of resolver the host has."""
import unittest

from lib.box import until
from lib.inet import InetTest

AS_ROOT = True

STUB = "/run/systemd/resolve/stub-resolv.conf"
REAL = "/run/systemd/resolve/resolv.conf"
# What the host has, and the number of the server that must answer (see world_inside.py).
LAYOUTS = {
    "systemd-resolved": ({STUB: "nameserver 127.0.0.53\noptions edns0 trust-ad\nsearch corp.test\n", REAL: "nameserver 192.168.77.1\n",
                          "/etc/resolv.conf": ("->", "../run/systemd/resolve/stub-resolv.conf")}, 53),
    "systemd-resolved, absolute link": ({STUB: "nameserver 127.0.0.53\nsearch corp.test\n", "/etc/resolv.conf": ("->", STUB)}, 53),
    "dnsmasq on loopback": ({"/etc/resolv.conf": "search corp.test\nnameserver 127.0.0.1\n"}, 1),
    "in the LAN": ({"/etc/resolv.conf": "# by dhcp\nsearch corp.test\nnameserver 192.168.77.1\n"}, 77),
    "in the internet": ({"/etc/resolv.conf": "nameserver 203.0.113.53\nsearch corp.test\n"}, 203),
    "IPv6": ({"/etc/resolv.conf": "nameserver 2001:db8:1::1\nsearch corp.test\n"}, 61),
    "IPv6, link-local": ({"/etc/resolv.conf": "nameserver fe80::1%eth0\nsearch corp.test\n"}, 80),
    "the first refuses": ({"/etc/resolv.conf": "search corp.test\nnameserver 192.168.77.12\nnameserver 127.0.0.54\nnameserver 192.168.77.1\n"}, 77),
    "the first is silent": ({"/etc/resolv.conf": "search corp.test\nnameserver 192.168.77.11\nnameserver 192.168.77.1\noptions timeout:1\n"}, 77),
    "IPv6 before IPv4": ({"/etc/resolv.conf": "search corp.test\nnameserver 2001:db8:1::1\nnameserver 192.168.77.1\n"}, 61),
    "NixOS": ({"/run/static/resolv.conf": ("->", "../net/resolv.conf"), "/run/net/resolv.conf": "search corp.test\nnameserver 192.168.77.1\n",
               "/etc/static": ("->", "/run/static"), "/etc/resolv.conf": ("->", "static/resolv.conf")}, 77),
}

ASK = r"""
import json, socket, struct, sys, time
said = {}

def names(name, family=0):
    try:
        return sorted({entry[4][0] for entry in socket.getaddrinfo(name, 80, family, socket.SOCK_STREAM)})
    except socket.gaierror as error:
        return [error.args[0]]

def query(name, number=7):
    labels = b"".join(bytes((len(label),)) + label.encode() for label in name.split("."))
    return struct.pack("!HHHHHH", number, 0x100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"

def server():
    with open("/etc/resolv.conf") as file:
        return [line.split()[1] for line in file if line.startswith("nameserver")]

def over_tcp(address, name):
    with socket.create_connection((address, 53), 3) as connection:
        message = query(name)
        connection.sendall(struct.pack("!H", len(message)) + message)
        size = struct.unpack("!H", connection.recv(2, socket.MSG_WAITALL))[0]
        return struct.unpack("!HHHHHH", connection.recv(size, socket.MSG_WAITALL)[:12])

def over_udp(address, name):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.settimeout(3)
        connection.connect((address, 53))
        connection.send(query(name))
        return struct.unpack("!HHHHHH", connection.recv(4096)[:12])
"""
ALL = ASK + r"""
started = time.monotonic()
said["which"] = names("which.test")
said["first"] = time.monotonic() - started
said["web"] = names("web.test")
said["big"] = len(names("big.test", socket.AF_INET))
said["search"] = names("only")
said["missing"] = names("no-such-name.test")
said["servers"] = server()
said["tcp"] = over_tcp(server()[0], "big.test")
said["udp"] = over_udp(server()[0], "big.test")
with socket.create_connection(("web.test", 80), 3) as connection:
    connection.sendall(b"x")
    said["talk"] = connection.recv(100).decode()
said["all"] = time.monotonic() - started
print(json.dumps(said))
"""


class Names(InetTest):
    def layout(self, files):
        for path, content in files.items():
            self.world.write(path, content)

    def check(self, kind):
        files, number = LAYOUTS[kind]
        self.layout(files)
        said = self.python(ALL)
        self.assertEqual(said["which"], [f"192.0.2.{number}"])
        self.assertEqual(said["web"], ["2001:db8:f::10", "203.0.113.10"])
        self.assertEqual(said["big"], 120)
        self.assertEqual(said["search"], ["203.0.113.20"])
        self.assertEqual(said["missing"], [-2])
        self.assertEqual(said["servers"], ["127.0.0.53"])
        self.assertEqual((said["tcp"][0], said["tcp"][3]), (7, 120))
        self.assertEqual(said["udp"][0], 7)
        self.assertTrue(said["udp"][1] & 0x200, "a truncated answer stays truncated")
        self.assertTrue(said["talk"].startswith("reached "), said["talk"])
        self.assertLess(said["first"], 4)
        return said

    def test_systemd_resolved(self):
        self.check("systemd-resolved")

    def test_systemd_resolved_by_an_absolute_link(self):
        self.check("systemd-resolved, absolute link")

    def test_dnsmasq_on_loopback(self):
        self.check("dnsmasq on loopback")

    def test_a_resolver_in_the_lan(self):
        self.check("in the LAN")

    def test_a_resolver_in_the_internet(self):
        self.check("in the internet")

    def test_a_resolver_by_ipv6(self):
        self.check("IPv6")

    def test_a_link_local_resolver(self):
        self.check("IPv6, link-local")

    def test_the_first_resolver_refuses(self):
        self.check("the first refuses")

    def test_the_first_resolver_is_silent(self):
        self.check("the first is silent")

    def test_the_order_is_kept(self):
        self.check("IPv6 before IPv4")

    def test_nixos_links(self):
        self.check("NixOS")

    def test_no_resolver_listed(self):
        """The C library then asks this machine; either way no lookup hangs, and addresses work."""
        self.layout({"/etc/resolv.conf": "# nothing\n"})
        said = self.python(ASK + """
started = time.monotonic()
said["which"] = names("which.test")
said["seconds"] = time.monotonic() - started
socket.create_connection(("203.0.113.10", 80), 2).close()
print(json.dumps(said))
""")
        self.assertIn(said["which"], (["192.0.2.1"], [-2], [-3]))
        self.assertLess(said["seconds"], 3)

    def test_search_and_options_are_kept(self):
        self.layout({"/etc/resolv.conf": "domain old.test\nsearch corp.test other.test\nnameserver 192.168.77.1\noptions ndots:3 timeout:2\n"})
        lines = [line.split() for line in self.inet("cat", "/etc/resolv.conf").stdout.splitlines()]
        self.assertIn(["search", "corp.test", "other.test"], lines)
        self.assertIn(["options", "ndots:3", "timeout:2"], [line for line in lines if line[:1] == ["options"]])
        self.assertEqual([line for line in lines if line[:1] == ["nameserver"]], [["nameserver", "127.0.0.53"]])

    def test_hosts_file_leads_to_no_neighbour(self):
        self.layout({"/etc/resolv.conf": "nameserver 192.168.77.1\n", "/etc/hosts": "127.0.0.1 localhost\n192.168.77.10 printer\n"})
        said = self.python(ASK + """
for name in ("printer", "nas.test"):
    try:
        socket.create_connection((name, 80), 2)
        said[name] = "reached"
    except OSError as error:
        said[name] = error.errno
print(json.dumps(said))
""")
        self.assertEqual(said["nas.test"], 111)
        self.assertIn(said["printer"], (111, -2, -3))

    def test_the_resolvers_address_is_for_names_only(self):
        """Neither its other ports, nor the resolver itself, nor what is no query."""
        self.layout({"/etc/resolv.conf": "nameserver 192.168.77.1\n"})
        said = self.python(ASK + r"""
open_ports = []
for port in (*range(1, 1024), 5353, 5355, 8080):
    try:
        socket.create_connection(("127.0.0.53", port), 1).close()
        open_ports.append(port)
    except OSError:
        pass
said["open"] = open_ports
for address in ("192.168.77.1", "192.168.77.11", "127.0.0.1"):
    try:
        over_tcp(address, "web.test")
        said[address] = "reached"
    except OSError as error:
        said[address] = error.errno
with socket.create_connection(("127.0.0.53", 53), 3) as connection:
    connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
    connection.shutdown(socket.SHUT_WR)
    said["http"] = connection.recv(100).decode("latin-1")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
    connection.settimeout(0.3)
    connection.connect(("127.0.0.53", 53))
    for rubbish in (b"", b"x", b"\0" * 11, b"\xff" * 512, query("web.test")[:-1], b"\0" * 12, bytes(65000)):
        connection.send(rubbish)
    try:
        while True:
            connection.recv(65535)
    except OSError:
        pass
said["after"] = names("which.test")
print(json.dumps(said))
""")
        self.assertEqual(said["open"], [53])
        self.assertEqual([said[address] for address in ("192.168.77.1", "192.168.77.11", "127.0.0.1")], [111] * 3)
        self.assertEqual(said["http"], "")
        self.assertEqual(said["after"], ["192.0.2.77"])

    def test_many_lookups_at_once(self):
        """Also beside connections that ask nothing."""
        self.layout({"/etc/resolv.conf": "nameserver 192.168.77.1\n"})
        said = self.python(ASK + """
import concurrent.futures
idle = [socket.create_connection(("127.0.0.53", 53), 3) for _ in range(8)]
started = time.monotonic()
with concurrent.futures.ThreadPoolExecutor(32) as pool:
    said["names"] = [names[0] for names in pool.map(names, ["which.test"] * 200)]
said["big"] = [len(names("big.test", socket.AF_INET)) for _ in range(3)]
many = []
for _ in range(300):
    try:
        many.append(socket.create_connection(("127.0.0.53", 53), 0.2))
    except OSError:
        break
said["udp"] = names("which.test")
for connection in idle + many:
    connection.close()
said["tcp"] = over_tcp("127.0.0.53", "web.test")[3]
said["seconds"] = time.monotonic() - started
print(json.dumps(said))
""")
        self.assertEqual(said["names"], ["192.0.2.77"] * 200)
        self.assertEqual(said["big"], [120] * 3)
        self.assertEqual((said["udp"], said["tcp"]), (["192.0.2.77"], 1))
        self.assertLess(said["seconds"], 8)

    def test_resolv_conf_changes_later(self):
        """A laptop that moves: the new network's resolver answers within seconds, whether the file or the link changes."""
        self.layout({"/etc/resolv.conf": "nameserver 192.168.77.1\n"})
        session = self.start("/usr/bin/python3", "-c", ASK + """
print("ready", flush=True)
for line in sys.stdin:
    print(names("which.test")[0], flush=True)
""").expect()

        def answer():
            session.say("")
            return session.line()

        self.assertEqual(answer(), "192.0.2.77")
        for files, number in (({"/etc/resolv.conf": "nameserver 127.0.0.1\n"}, 1), ({"/etc/resolv.conf": "nameserver 2001:db8:1::1\n"}, 61),
                              LAYOUTS["systemd-resolved"], ({STUB: "nameserver 203.0.113.53\n"}, 203)):
            self.layout(files)
            self.assertTrue(until(lambda number=number: answer() == f"192.0.2.{number}", 5), f"not {number}")
        self.assertEqual(session.finish()[0], 0)


if __name__ == "__main__":
    unittest.main()
