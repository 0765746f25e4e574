# SPDX-License-Identifier: MIT
"""Host names resolve in the tier `inet`, with every kind of resolver that a host may have."""
import json
import os
import pathlib
import unittest

from lib.box import until
from lib.inet import InetTest, name_of

AS_ROOT = True

STUB = "/run/systemd/resolve/stub-resolv.conf"
REAL = "/run/systemd/resolve/resolv.conf"
# Files of the host, and the number of the server that must answer (see world_inside.py).
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
result = {}

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
result["which"] = names("which.test")
result["first"] = time.monotonic() - started
result["web"] = names("web.test")
result["big"] = len(names("big.test", socket.AF_INET))
result["search"] = names("only")
result["missing"] = names("no-such-name.test")
result["servers"] = server()
result["tcp"] = over_tcp(server()[0], "big.test")
result["udp"] = over_udp(server()[0], "big.test")
with socket.create_connection(("web.test", 80), 3) as connection:
    connection.sendall(b"x")
    result["talk"] = connection.recv(100).decode()
result["all"] = time.monotonic() - started
print(json.dumps(result))
"""

# Inspects the DNS relay and the supervisor, as root of the world.
INSPECT = r"""
import json, os, re, sys
relay, supervisor, secret = sys.argv[1:]

def memory(pid):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            start, end, mode = re.match("([0-9a-f]+)-([0-9a-f]+) (....)", line).groups()
            size = int(end, 16) - int(start, 16)
            # Not the shadow memory of a sanitizer, which has terabytes.
            if mode[0] == "r" and "[v" not in line and size <= 1 << 28:
                memory.seek(int(start, 16))
                yield memory.read(size)

links = [os.readlink(f"/proc/{relay}/fd/{fd}") for fd in os.listdir(f"/proc/{relay}/fd")]
with open(f"/proc/{relay}/environ") as file:
    environment = sorted(filter(None, file.read().split("\0")))
with open(f"/proc/{relay}/mountinfo") as file:
    mounts = len(file.readlines())
print(json.dumps({"root": os.listdir(f"/proc/{relay}/root/"), "files": [link for link in links if link[0] == "/"], "descriptors": len(links),
                  "environment": environment, "mounts": mounts,
                  "secret": [any(secret.encode() in part for part in memory(pid)) for pid in (relay, supervisor)]}))
"""


class Names(InetTest):
    def layout(self, files):
        for path, content in files.items():
            self.world.write(path, content)

    def check(self, kind):
        files, number = LAYOUTS[kind]
        self.layout(files)
        result = self.python(ALL)
        self.assertEqual(result["which"], [f"192.0.2.{number}"])
        self.assertEqual(result["web"], ["2001:db8:f::10", "203.0.113.10"])
        self.assertEqual(result["big"], 120)
        self.assertEqual(result["search"], ["203.0.113.20"])
        self.assertEqual(result["missing"], [-2])
        self.assertEqual(result["servers"], ["127.0.0.53"])
        self.assertEqual((result["tcp"][0], result["tcp"][3]), (7, 120))
        self.assertEqual(result["udp"][0], 7)
        self.assertTrue(result["udp"][1] & 0x200, "a truncated answer stays truncated")
        self.assertTrue(result["talk"].startswith("reached "), result["talk"])
        self.assertLess(result["first"], 4)
        return result

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

    def test_servers_are_tried_in_order(self):
        self.check("IPv6 before IPv4")

    def test_nixos_links(self):
        self.check("NixOS")

    def test_no_resolver_listed(self):
        """The C library then uses the local host. No lookup hangs, and addresses work."""
        self.layout({"/etc/resolv.conf": "# nothing\n"})
        result = self.python(ASK + """
started = time.monotonic()
result["which"] = names("which.test")
result["seconds"] = time.monotonic() - started
socket.create_connection(("203.0.113.10", 80), 2).close()
print(json.dumps(result))
""")
        self.assertIn(result["which"], (["192.0.2.1"], [-2], [-3]))
        self.assertLess(result["seconds"], 3)

    def test_search_and_options_are_kept(self):
        self.layout({"/etc/resolv.conf": "domain old.test\nsearch corp.test other.test\nnameserver 192.168.77.1\noptions ndots:3 timeout:2\n"})
        lines = [line.split() for line in self.inet("cat", "/etc/resolv.conf").stdout.splitlines()]
        self.assertIn(["search", "corp.test", "other.test"], lines)
        self.assertIn(["options", "ndots:3", "timeout:2"], [line for line in lines if line[:1] == ["options"]])
        self.assertEqual([line for line in lines if line[:1] == ["nameserver"]], [["nameserver", "127.0.0.53"]])

    def test_names_of_neighbours_are_refused(self):
        self.layout({"/etc/resolv.conf": "nameserver 192.168.77.1\n", "/etc/hosts": "127.0.0.1 localhost\n192.168.77.10 printer\n"})
        result = self.python(ASK + """
for name in ("printer", "nas.test"):
    try:
        socket.create_connection((name, 80), 2)
        result[name] = "reached"
    except OSError as error:
        result[name] = error.errno
print(json.dumps(result))
""")
        self.assertEqual(result["nas.test"], 111)
        self.assertIn(result["printer"], (111, -2, -3))

    def test_resolver_address_serves_dns_only(self):
        """Other ports, the host's resolver itself, and messages that are no queries get no answer."""
        self.layout({"/etc/resolv.conf": "nameserver 192.168.77.1\n"})
        result = self.python(ASK + r"""
open_ports = []
for port in (*range(1, 1024), 5353, 5355, 8080):
    try:
        socket.create_connection(("127.0.0.53", port), 1).close()
        open_ports.append(port)
    except OSError:
        pass
result["open"] = open_ports
for address in ("192.168.77.1", "192.168.77.11", "127.0.0.1"):
    try:
        over_tcp(address, "web.test")
        result[address] = "reached"
    except OSError as error:
        result[address] = error.errno
with socket.create_connection(("127.0.0.53", 53), 3) as connection:
    connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
    connection.shutdown(socket.SHUT_WR)
    result["http"] = connection.recv(100).decode("latin-1")
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
result["after"] = names("which.test")
print(json.dumps(result))
""")
        self.assertEqual(result["open"], [53])
        self.assertEqual([result[address] for address in ("192.168.77.1", "192.168.77.11", "127.0.0.1")], [111] * 3)
        self.assertEqual(result["http"], "")
        self.assertEqual(result["after"], ["192.0.2.77"])

    def test_zone_transfers_and_local_names_are_not_forwarded(self):
        """The LAN's resolver gets ordinary queries only. Without a box it answers all of these."""
        self.layout({"/etc/resolv.conf": "nameserver 192.168.77.1\n"})
        script = ASK + r"""
def ask(address, tcp, name, kind, family, flags=0x100):
    message = struct.pack("!6H", 9, flags, 1, 0, 0, 0) + query(name)[12:-4] + struct.pack("!2H", kind, family)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM) as connection:
        connection.settimeout(2)
        connection.connect((address, 53))
        connection.send((struct.pack("!H", len(message)) if tcp else b"") + message)
        return connection.recv(65535)[(2 if tcp else 0) + 3] & 15

questions = [("corp.test", 252, 1), ("corp.test", 251, 1), ("web.test", 255, 1), ("web.test", 249, 1), ("version.bind", 16, 3), ("web.test", 1, 255),
             ("web.test", 1, 1, 0x2800), ("10.77.168.192.in-addr.arpa", 12, 1), ("nas.local", 1, 1), ("router", 1, 1)]
print(json.dumps([[ask(sys.argv[1], tcp, *question) for question in questions] for tcp in (False, True)]))
"""
        self.assertEqual(self.python(script, "127.0.0.53"), [[5, 5, 5, 5, 5, 5, 4, 3, 3, 3]] * 2)
        outside = json.loads(self.world.run("/usr/bin/python3", "-c", script, "192.168.77.1"))
        self.assertTrue({code for codes in outside for code in codes} <= {0, 3}, outside)

    def test_relay_is_confined(self):
        """The process that parses the box's messages has no files, no rights, and nothing of claudebox in its memory."""
        secret = f"sk-ant-{os.getpid()}-{id(self)}-{'x' * 40}"
        self.env["ANTHROPIC_API_KEY"] = secret
        self.layout({"/etc/resolv.conf": "nameserver 192.168.77.1\n"})
        session = self.start("/usr/bin/python3", "-c", ASK + """
print(names("which.test")[0], flush=True)
sys.stdin.read()
""")
        self.assertEqual(session.line(), "192.0.2.77")
        pid, = (pid for pid in self.world.other_processes() if name_of(pid) == "claudebox-relay")
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        self.assertEqual([status[name] for name in ("NoNewPrivs", "CapEff", "CapPrm", "CapInh", "CapAmb")], ["1", *["0" * 16] * 4])
        if b"libasan" not in pathlib.Path(self.under_test).read_bytes():
            self.assertEqual(status["Seccomp"], "2")
        if os.getuid():  # no other user may look further
            self.assertRaises(PermissionError, os.listdir, f"/proc/{pid}/fd")
            return
        found = json.loads(self.world.run("/usr/bin/python3", "-c", INSPECT, pid, session.process.pid, secret))
        self.assertEqual(found["root"], [])
        self.assertEqual(found["files"], ["/dev/null"] * 3)
        self.assertEqual(found["mounts"], 1)
        self.assertEqual(found["environment"], ["LC_ALL=C", "PATH=/usr/bin:/bin"])
        self.assertLessEqual(found["descriptors"], 8)
        self.assertEqual(found["secret"], [False, True], "in the memory of the DNS relay, of the supervisor")
        self.assertEqual(session.finish()[0], 0)

    def test_many_lookups_at_once(self):
        """Also while other connections are idle."""
        self.layout({"/etc/resolv.conf": "nameserver 192.168.77.1\n"})
        result = self.python(ASK + """
import concurrent.futures
idle = [socket.create_connection(("127.0.0.53", 53), 3) for _ in range(8)]
started = time.monotonic()
with concurrent.futures.ThreadPoolExecutor(32) as pool:
    result["names"] = [names[0] for names in pool.map(names, ["which.test"] * 200)]
result["big"] = [len(names("big.test", socket.AF_INET)) for _ in range(3)]
many = []
for _ in range(300):
    try:
        many.append(socket.create_connection(("127.0.0.53", 53), 0.2))
    except OSError:
        break
result["udp"] = names("which.test")
for connection in idle + many:
    connection.close()
result["tcp"] = over_tcp("127.0.0.53", "web.test")[3]
result["seconds"] = time.monotonic() - started
print(json.dumps(result))
""")
        self.assertEqual(result["names"], ["192.0.2.77"] * 200)
        self.assertEqual(result["big"], [120] * 3)
        self.assertEqual((result["udp"], result["tcp"]), (["192.0.2.77"], 1))
        self.assertLess(result["seconds"], 8)

    def test_resolv_conf_changes_later(self):
        """A laptop moves to another network: its resolver answers within seconds, whether the file or the link changes."""
        self.layout({"/etc/resolv.conf": "nameserver 192.168.77.1\n"})
        session = self.start("/usr/bin/python3", "-c", ASK + """
print("ready", flush=True)
for line in sys.stdin:
    print(names("which.test")[0], flush=True)
""").expect()

        def answer():
            session.send_line("")
            return session.line()

        self.assertEqual(answer(), "192.0.2.77")
        for files, number in (({"/etc/resolv.conf": "nameserver 127.0.0.1\n"}, 1), ({"/etc/resolv.conf": "nameserver 2001:db8:1::1\n"}, 61),
                              LAYOUTS["systemd-resolved"], ({STUB: "nameserver 203.0.113.53\n"}, 203)):
            self.layout(files)
            self.assertTrue(until(lambda number=number: answer() == f"192.0.2.{number}", 5), f"not {number}")
        self.assertEqual(session.finish()[0], 0)


if __name__ == "__main__":
    unittest.main()
