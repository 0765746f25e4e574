# SPDX-License-Identifier: MIT
"""The process inside a World (see world.py). It runs in new namespaces, creates the interfaces, and serves on both ends of them.

One namespace is the host, the other one everything around it: the router, the LAN, the tailnet, the internet. Each answers on all of
its addresses, on a few TCP and UDP ports and to pings. It ends at the end of standard input, or with its parent.
"""
import ctypes
import ipaddress
import json
import os
import selectors
import signal
import socket
import struct
import subprocess
import sys

PORTS = (80, 443, 22, 8080)
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
IPV6_FREEBIND = 78
LIBC = ctypes.CDLL(None, use_errno=True)

# interface of the host, its peer outside, addresses of the host, addresses of the peer
LINKS = (
    ("eth0", "lan", ("192.168.77.5/24", "2001:db8:1::5/64", "fd00:77::5/64", "fe80::5/64"),
     ("192.168.77.1/24", "192.168.77.10/24", "192.168.77.11/24", "192.168.77.12/24", "2001:db8:1::1/64", "2001:db8:1::10/64",
      "fd00:77::10/64", "fe80::1/64")),
    ("eth1", "public", ("198.51.100.5/24",), ("198.51.100.10/24",)),
    ("docker0", "container", ("172.17.0.1/16",), ("172.17.0.2/16",)),
    ("tailscale0", "peer", ("100.101.1.5/32", "fd7a:115c:a1e0::5/128"), ("100.101.1.10/32", "fd7a:115c:a1e0::10/128")),
)
HOST_ROUTES = ("100.64.0.0/10 dev tailscale0", "fd7a:115c:a1e0::/48 dev tailscale0",
               "64:ff9b::c0a8:4d0a via 2001:db8:1::10", "2002:c0a8:4d0a::/48 via 2001:db8:1::10")
HOST_DEFAULTS = ("default via 192.168.77.1 dev eth0", "default via fe80::1 dev eth0")
OUTSIDE_ROUTES = ("100.101.1.5 dev peer", "fd7a:115c:a1e0::5 dev peer")
# Addresses behind the router: metadata, private networks, the internet, and whole prefixes that embed an IPv4 address.
BEYOND = ("169.254.169.254/32", "168.63.129.16/32", "10.9.9.9/32", "172.20.0.9/32", "198.18.0.9/32", "192.88.99.1/32", "192.0.0.170/32", "203.0.113.10/32", "203.0.113.20/32", "203.0.113.53/32",
          "198.51.101.10/32", "fd00:ec2::254/128", "2001:db8:f::10/128", "2001:db8:f::20/128", "2001:db8:2::10/128")
BEYOND_PREFIXES = ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/23")

# Name servers: address, and the last number of the address that it returns for which.test, which identifies the server.
DNS_HOST = (("127.0.0.53", 53), ("127.0.0.1", 1))
DNS_OUTSIDE = (("192.168.77.1", 77), ("203.0.113.53", 203), ("2001:db8:1::1", 61), ("fe80::1%lan", 80))
DNS_SILENT = "192.168.77.11"
NAMES = {
    "web.test": ("203.0.113.10", "2001:db8:f::10"),
    "big.test": tuple(f"203.0.114.{number}" for number in range(1, 121)),
    "only.corp.test": ("203.0.113.20",),
    "nas.test": ("192.168.77.10",),
}


def batch(family, lines):
    subprocess.run(["ip", f"-{family}", "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)


def family_of(text):
    return 6 if ":" in text else 4


class Server:
    """Serves any number of sockets in one thread."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.kept = []

    def watch(self, descriptor, action):
        self.selector.register(descriptor, selectors.EVENT_READ, action)

    def forget(self, connection):
        self.selector.unregister(connection)
        connection.close()

    def run(self):
        while True:
            for key, _ in self.selector.select():
                try:
                    key.data(key.fileobj)
                except (OSError, IndexError, struct.error):  # the peer has closed the connection, or sent a malformed message
                    pass

    def echo(self, port):
        """Serves TCP and UDP on all addresses. The answer contains the address that the client has connected to."""
        listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=128)
        self.watch(listener, self.accept_echo)
        datagrams = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        datagrams.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        datagrams.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
        datagrams.setsockopt(socket.IPPROTO_IPV6, IPV6_FREEBIND, 1)  # answer from an address that is local by a route only
        datagrams.bind(("::", port))
        self.watch(datagrams, self.answer_datagram)

    def accept_echo(self, listener):
        connection, _ = listener.accept()
        self.watch(connection, self.answer_stream)

    def answer_stream(self, connection):
        try:
            data = connection.recv(4096)
            if data:
                connection.sendall(b"reached " + connection.getsockname()[0].encode() + b" " + data)
        except OSError:
            data = b""
        if not data:
            self.forget(connection)

    @staticmethod
    def answer_datagram(datagrams):
        data, extra, _, sender = datagrams.recvmsg(4096, socket.CMSG_SPACE(20))
        asked, _ = struct.unpack("16sI", extra[0][2][:20])
        index = sender[3] if len(sender) > 3 else 0  # a link-local peer needs the interface
        reply = b"reached " + socket.inet_ntop(socket.AF_INET6, asked).encode() + b" " + data
        control = [(socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, struct.pack("16sI", asked, index))]
        datagrams.sendmsg([reply], control, 0, sender)

    def names(self, address, number):
        """Serves DNS at an address."""
        place = socket.getaddrinfo(address, 53, flags=socket.AI_NUMERICHOST)[0][4]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        datagrams = socket.socket(family, socket.SOCK_DGRAM)
        datagrams.bind(place)
        self.watch(datagrams, lambda datagrams: self.answer_query(datagrams, number))
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(64)
        self.watch(listener, lambda listener: self.watch(listener.accept()[0], lambda stream: self.answer_stream_query(stream, number)))

    @staticmethod
    def answer_query(datagrams, number):
        query, sender = datagrams.recvfrom(4096)
        reply = dns_reply(query, number)
        if len(reply) > 512:
            # Truncated: the question only, with the bit TC.
            reply = query[:2] + b"\x87\x80" + query[4:6] + bytes(6) + query[12:question_end(query)]
        datagrams.sendto(reply, sender)

    def answer_stream_query(self, stream, number):
        # The clients of the tests send a query in one piece, or its length first.
        stream.settimeout(2)
        length = stream.recv(2, socket.MSG_WAITALL)
        query = stream.recv(struct.unpack("!H", length)[0], socket.MSG_WAITALL) if len(length) == 2 else b""
        if not query:
            self.forget(stream)
            return
        reply = dns_reply(query, number)
        stream.sendall(struct.pack("!H", len(reply)) + reply)

    def silent(self, address):
        """Receives queries and never answers."""
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind((address, 53))
        listener = socket.create_server((address, 53))
        self.watch(datagrams, lambda datagrams: datagrams.recv(4096))
        self.kept.append(listener)


def question_end(query):
    end = 12
    while query[end]:
        end += query[end] + 1
    return end + 5


def dns_reply(query, number):
    end = question_end(query)
    labels, place = [], 12
    while query[place]:
        labels.append(query[place + 1:place + 1 + query[place]].decode("ascii", "replace"))
        place += query[place] + 1
    name = ".".join(labels).lower()
    kind = struct.unpack("!H", query[end - 4:end - 2])[0]
    addresses = NAMES.get(name, (f"192.0.2.{number}",) if name == "which.test" else None)
    answers = [ipaddress.ip_address(text) for text in addresses or ()]
    answers = [address.packed for address in answers if kind == {4: 1, 6: 28}[address.version]]
    records = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 60, len(packed)) + packed for packed in answers)
    code = 0 if addresses else 3
    return query[:2] + struct.pack("!HHHHH", 0x8580 | code, 1, len(answers), 0, 0) + query[12:end] + records


def own_files():
    """Mounts a private /run and a copy of /etc, which tests may change."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"], check=True)
    os.mkdir("/run/etc")
    # Files that this user cannot read are not needed.
    subprocess.run(["cp", "-a", "--no-preserve=ownership", "/etc/.", "/run/etc"], stderr=subprocess.DEVNULL, check=False)
    subprocess.run(["mount", "--bind", "/run/etc", "/etc"], check=True)
    os.unlink("/etc/resolv.conf")
    with open("/etc/resolv.conf", "w", encoding="ascii") as file:
        file.write("nameserver 192.168.77.1\n")


def outside(go, ready):
    """Runs the namespace outside the host."""
    if LIBC.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    os.write(ready, b"1")
    wanted = os.read(go, 16).decode()
    for family in (4, 6):
        lines = ["link set dev lo up"] if family == 4 else []
        if str(family) in wanted:
            for address in BEYOND:
                if family_of(address) == family:
                    lines.append(f"address add {address} dev lo")
            if family == 6:
                lines += [f"route add local {prefix} dev lo" for prefix in BEYOND_PREFIXES]
            for _, name, _, addresses in LINKS:
                lines.append(f"link set dev {name} up")
                lines += [f"address add {address} dev {name}{' nodad' if family == 6 else ''}" for address in addresses
                          if family_of(address) == family]
            lines += [f"route add {route}" for route in OUTSIDE_ROUTES if family_of(route.split()[0]) == family]
        else:
            lines += [f"link set dev {name} up" for _, name, _, _ in LINKS]
        batch(family, lines)
    server = Server()
    for port in PORTS:
        server.echo(port)
    for address, number in DNS_OUTSIDE:
        if str(family_of(address)) in wanted:
            server.names(address, number)
    if "4" in wanted:
        server.silent(DNS_SILENT)
    os.write(ready, b"2")
    server.run()


def main():
    # wanted: 4, 6, online
    wanted = sys.argv[1].split(",")
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    go, start = os.pipe()
    reports, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.close(0)
        os.close(1)
        os.close(reports)
        try:
            outside(go, ready)
        finally:
            os._exit(1)
    os.close(ready)
    os.read(reports, 1)
    own_files()
    with open("/proc/sys/net/ipv4/ping_group_range", "w", encoding="ascii") as file:
        with open("/proc/self/gid_map", encoding="ascii") as groups:
            # The value of systemd, or less if this user namespace has fewer groups.
            file.write("0 0" if groups.read().split()[2] == "1" else "0 2147483647")
    lines = ["link set dev lo up"]
    for name, peer, _, _ in LINKS:
        lines.append(f"link add {name} type veth peer name {peer} netns {pid}")
        lines.append(f"link set dev {name} addrgenmode none")
    batch(4, lines)
    subprocess.run(["nsenter", f"--net=/proc/{pid}/ns/net", "ip", "-batch", "-"], check=True, text=True,
                   input="".join(f"link set dev {peer} addrgenmode none\n" for _, peer, _, _ in LINKS))
    os.write(start, "".join(word for word in wanted if word in "46").encode())
    for family in (4, 6):
        lines = [f"link set dev {name} up" for name, _, _, _ in LINKS]
        if str(family) in wanted:
            lines += [f"address add {address} dev {name}{' nodad' if family == 6 else ''}" for name, _, addresses, _ in LINKS
                      for address in addresses if family_of(address) == family]
            lines += [f"route add {route}" for route in HOST_ROUTES if family_of(route.split()[0]) == family]
            if "online" in wanted:
                lines += [f"route add {route}" for route in HOST_DEFAULTS if family_of(route) == family]
        batch(family, lines)
    server = Server()
    for port in PORTS:
        server.echo(port)
    for address, number in DNS_HOST:
        server.names(address, number)
    if os.read(reports, 1) != b"2":
        raise SystemExit("the outside did not start")
    server.watch(0, lambda _: os.read(0, 1) or os._exit(0))
    print(json.dumps({"host": os.getpid(), "outside": pid}), flush=True)
    server.run()


if __name__ == "__main__":
    main()
