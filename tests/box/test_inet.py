# SPDX-License-Identifier: MIT
"""The tier `inet` reaches the internet, and no address of the host, the LAN, the tailnet or the cloud (in a World)."""
import json
import os
import unittest

from lib.box import LOOPBACK
from lib.inet import InetTest
from lib.world import ALLOWED4, ALLOWED6, FORBIDDEN4, FORBIDDEN6, MULTICAST4, MULTICAST6, CONNECT, World, mapped, nat64, six_to_four

AS_ROOT = True

# Port 9 is closed everywhere: a refusal must not depend on whether a server listens.
TRIES = (("tcp", 80), ("tcp", 22), ("udp", 80), ("datagram", 443), ("ping", 0))
CLOSED = (("tcp", 9), ("udp", 9), ("datagram", 9))
EXPECTED = {"tcp": {"ECONNREFUSED"}, "udp": {"EHOSTUNREACH"}, "datagram": {"EHOSTUNREACH"}, "ping": {"EHOSTUNREACH"},
            # The kernel returns the error of the send in the next call.
            "ping6": {"EHOSTUNREACH", "late EHOSTUNREACH", "late ECONNREFUSED", "late EACCES"}}
# The kernel itself may refuse these, or find no route: groups, link-local addresses, a ping to an IPv4-mapped address.
ANY_ERROR = {protocol: {"ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EPERM", "EACCES", "EINVAL", "EADDRNOTAVAIL"} | EXPECTED["ping6"]
             for protocol in EXPECTED}


def rows(addresses, tries=TRIES):
    return [[protocol, address, port] for address in addresses for protocol, port in tries]


# Without a box every row of these two is reached.
LINK_LOCAL = ["fe80::1%"]
FORBIDDEN = [*FORBIDDEN4, *FORBIDDEN6, *map(nat64, FORBIDDEN4), *map(six_to_four, (*FORBIDDEN4, *ALLOWED4))]
ALLOWED = [*ALLOWED4, *ALLOWED6]
MAPPED_TRIES = [(protocol, port) for protocol, port in TRIES if protocol != "ping"]


class Table(InetTest):
    def test_addresses_are_reached_without_a_box(self):
        """Positive control: the host reaches every forbidden address, so the other tests can fail."""
        table = rows([*FORBIDDEN, *LINK_LOCAL, *ALLOWED]) + rows(map(mapped, (*FORBIDDEN4, *ALLOWED4)), MAPPED_TRIES)
        self.assertReached(table, self.world.connect(table))

    def test_forbidden_addresses_are_refused_at_once(self):
        table = rows(FORBIDDEN, (*TRIES, *CLOSED)) + rows(map(mapped, FORBIDDEN4), (*MAPPED_TRIES, *CLOSED))
        self.assertRefused(table, self.connect(table), EXPECTED)

    def test_addresses_that_the_kernel_may_refuse(self):
        table = rows([*LINK_LOCAL, *MULTICAST4]) + rows(MULTICAST6, MAPPED_TRIES) + rows(map(mapped, FORBIDDEN4), (("ping", 0),))
        self.assertRefused(table, self.connect(table), ANY_ERROR)

    def test_multicast_groups_do_not_answer(self):
        """The kernel may report no error for a ping to an IPv6 group."""
        for outcome, _ in self.connect(rows(MULTICAST6[:1], (("ping", 0),))):
            self.assertIn(outcome, {"silent", *ANY_ERROR["ping6"]})

    def test_the_internet_works(self):
        table = rows(ALLOWED) + rows(map(mapped, ALLOWED4), MAPPED_TRIES)
        self.assertReached(table, self.connect(table))

    def test_first_connection_has_no_delay(self):
        """No address is tentative (duplicate address detection) when the agent starts."""
        for address in ("203.0.113.10", "2001:db8:f::10"):
            (outcome, seconds), = self.connect([["tcp", address, 80]])
            self.assertEqual(outcome, "reached")
            self.assertLess(seconds, 0.3)

    def test_loopback_is_the_boxs_own(self):
        """The host's services listen on all of its addresses. A box reaches none of them by a loopback address."""
        table = [[protocol, address, port] for address in ("127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::", "127.0.0.53")
                 for protocol in ("tcp", "udp") for port in (80, 22)]
        results = self.connect(table)
        self.assertEqual({outcome for outcome, _ in results} - {"ECONNREFUSED", "late ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"}, set())

    def test_gateway_addresses_do_not_answer(self):
        """The gateway and the other addresses of the box's own network refuse connections."""
        table = rows(("192.0.0.1", "192.0.0.3", "192.0.0.6", "192.0.0.170", "fe80::1%"), (*TRIES, ("tcp", 53), ("udp", 53)))
        self.assertRefused(table, self.connect(table), ANY_ERROR)

    def test_loopback_works(self):
        self.assertEqual(self.inet("python3", "-c", LOOPBACK).stdout.split(), ["x", "x"])


# Each line must fail in the box; `interface` is the box's network interface.
COMMANDS = """
ip route add 192.168.77.0/24 dev $interface
ip route add 192.168.77.0/24 via 192.0.0.1
ip route replace default dev $interface
ip -6 route replace 2001:db8:1::/64 dev $interface
ip route flush table main
ip rule add pref 1 lookup main
ip rule flush
ip -6 rule flush
ip addr add 192.168.77.99/24 dev $interface
ip addr del 192.0.0.2/29 dev $interface
ip link set $interface down
ip link set lo down
ip link add new type veth peer name other
ip tuntap add dev new mode tap
ip neigh add 192.168.77.10 lladdr 02:00:00:00:00:01 dev $interface
nft flush ruleset
nft list ruleset
nft add table inet mine
iptables -F
sysctl -w net.ipv4.ip_forward=1
sh -c 'echo 1 >/proc/sys/net/ipv4/ip_nonlocal_bind'
sh -c 'echo 0 >/proc/sys/net/ipv4/conf/all/forwarding'
nsenter --net=/proc/1/ns/net ip link set lo down
mount -t sysfs sysfs /sys
"""
HOSTILE = f"""
interface=$(sed -n '3,$s/^ *\\([^:]*\\):.*/\\1/p' /proc/net/dev | grep -v '^lo$' | head -n 1)
export interface
while read -r line; do
    sh -c "$prefix $line" >/dev/null 2>&1 </dev/null && echo "$prefix $line"
done <<'END'
{COMMANDS.strip()}
END
exec /usr/bin/python3 -c "$1" "$2"
"""

# Socket options and protocols that could bypass the rules. Each records the answer, which contains the address that was reached.
SOCKET_OPTIONS = r"""
import errno, json, socket, struct, sys
FORBIDDEN, FORBIDDEN6, ALLOWED, ALLOWED6 = "192.168.77.10", "2001:db8:1::10", "203.0.113.10", "2001:db8:f::10"
interface = [name for _, name in socket.if_nameindex() if name != "lo"]
outcomes = {}

def attempt(name):
    def run(function):
        if sys.argv[1:] and name not in sys.argv[1:]:
            return
        try:
            outcomes[name] = function() or "nothing"
        except OSError as error:
            outcomes[name] = errno.errorcode.get(error.errno, str(error))
    return run

def tcp(family=socket.AF_INET, number=0, kind=socket.SOCK_STREAM):
    connection = socket.socket(family, kind, number)
    connection.settimeout(0.3)
    return connection

def ask(connection, address, port=80):
    connection.connect((address, port))
    connection.send(b"x")
    return connection.recv(100).decode()

for family in (socket.AF_INET, socket.AF_INET6):
    for number in (1, 6, 17, 58, 255):
        attempt(f"raw {family} {number}")(lambda: socket.socket(family, socket.SOCK_RAW, number) and "made")
for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):
    attempt(f"packet {kind}")(lambda: socket.socket(socket.AF_PACKET, kind, 0x300) and "made")

@attempt("mark")
def _():
    connection = tcp()
    for mark in range(1, 3):
        connection.setsockopt(socket.SOL_SOCKET, 36, mark)
    return "made"

@attempt("transparent")
def _():
    tcp().setsockopt(socket.IPPROTO_IP, 19, 1)
    return "made"

for name in [*interface, "lo"]:
    for family, address in ((socket.AF_INET, FORBIDDEN), (socket.AF_INET6, FORBIDDEN6)):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            @attempt(f"device {name} {family} {kind}")
            def _():
                connection = tcp(family, 0, kind)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name.encode() + b"\0")
                return ask(connection, address)
    @attempt(f"unicast interface {name}")
    def _():
        connection = tcp()
        connection.setsockopt(socket.IPPROTO_IP, 50, struct.pack("!I", socket.if_nametoindex(name)))
        return ask(connection, FORBIDDEN)

@attempt("bind to the host's address")
def _():
    connection = tcp()
    connection.bind(("192.168.77.5", 0))
    return "made"

for family, address, own in ((socket.AF_INET, FORBIDDEN, "192.168.77.5"), (socket.AF_INET, FORBIDDEN, "127.0.0.1"),
                             (socket.AF_INET6, FORBIDDEN6, "2001:db8:1::5"), (socket.AF_INET6, FORBIDDEN6, "::1")):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        @attempt(f"free bind {own} {kind}")
        def _():
            connection = tcp(family, 0, kind)
            connection.setsockopt(socket.IPPROTO_IP, 15, 1)
            connection.setsockopt(*((socket.IPPROTO_IPV6, 78, 1) if family == socket.AF_INET6 else (socket.IPPROTO_IP, 15, 1)))
            connection.bind((own, 0))
            return ask(connection, address)

for first, last in ((ALLOWED, FORBIDDEN), (FORBIDDEN, ALLOWED)):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        for option in (131, 137):
            @attempt(f"source route {option} {first} {last} {kind}")
            def _():
                connection = tcp(socket.AF_INET, 0, kind)
                connection.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes((option, 7, 4)) + socket.inet_aton(first) + b"\0")
                return ask(connection, last)
for first, last in ((ALLOWED6, FORBIDDEN6), (FORBIDDEN6, ALLOWED6)):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        for number in (0, 2, 4):
            @attempt(f"routing header {number} {first} {last} {kind}")
            def _():
                connection = tcp(socket.AF_INET6, 0, kind)
                hops = [socket.inet_pton(socket.AF_INET6, address) for address in ((last, first) if number == 4 else (first,))]
                header = struct.pack("!BBBBBBH", 0, 2 * len(hops), number, 1, len(hops) - 1 if number == 4 else 0, 0, 0) + b"".join(hops)
                connection.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RTHDR, header)
                return ask(connection, last)

for name, number, kind in (("mptcp", 262, socket.SOCK_STREAM), ("sctp", 132, socket.SOCK_STREAM), ("sctp", 132, socket.SOCK_SEQPACKET),
                           ("dccp", 33, 6), ("udplite", 136, socket.SOCK_DGRAM)):
    for family, address in ((socket.AF_INET, FORBIDDEN), (socket.AF_INET6, FORBIDDEN6)):
        attempt(f"{name} {family} {kind}")(lambda: ask(tcp(family, number, kind), address))

@attempt("fast open")
def _():
    connection = tcp()
    connection.settimeout(None)
    connection.sendto(b"x", 0x20000000, (FORBIDDEN, 80))
    return connection.recv(100).decode()

@attempt("connected elsewhere")
def _():
    connection = tcp(kind=socket.SOCK_DGRAM)
    ask(connection, ALLOWED)
    connection.sendto(b"x", (FORBIDDEN, 80))
    return connection.recv(100).decode()

@attempt("fragments")
def _():
    connection = tcp(kind=socket.SOCK_DGRAM)
    connection.setsockopt(socket.IPPROTO_IP, 10, 0)
    connection.sendto(b"x" * 65000, (FORBIDDEN, 80))
    return connection.recv(100).decode()

@attempt("more")
def _():
    connection = tcp(kind=socket.SOCK_DGRAM)
    connection.sendto(b"x", socket.MSG_MORE, (ALLOWED, 80))
    connection.sendto(b"x", (FORBIDDEN, 80))
    return connection.recv(100).decode()

print(json.dumps(outcomes))
"""


class Hostile(InetTest):
    """The agent cannot change the set of addresses that it reaches."""

    after = rows(("192.168.77.10", "192.168.77.5", "2001:db8:1::10"))

    def hostile(self, prefix):
        done = self.inet("env", f"prefix={prefix}", "sh", "-c", HOSTILE, "sh", CONNECT, json.dumps([*self.after, ["tcp", "203.0.113.10", 80]]))
        *changed, results = done.stdout.splitlines()
        self.assertEqual(changed, [], done.stderr)
        results = json.loads(results)
        self.assertEqual(results.pop()[0], "reached")
        self.assertRefused(self.after, results, EXPECTED)

    def test_agent_cannot_change_rules_routes_or_addresses(self):
        self.hostile("")

    def test_root_of_a_new_user_namespace_cannot_change_them(self):
        if os.getuid() == 0:
            return  # root gets no nested user namespace: box/test_seccomp.py
        self.profile(nested=True)
        self.hostile("unshare --user --map-root-user")

    def test_new_network_namespace_is_not_connected(self):
        """The agent has all capabilities in its new network namespace, but that has no connection."""
        if os.getuid() == 0:
            return
        self.profile(nested=True)
        script = ("ip link set lo up; ip link add veth0 type veth peer name veth1; ip addr add 192.168.77.99/24 dev veth0; ip link set veth0 up; "
                  "nft flush ruleset; ip link set veth1 netns 1; nsenter --net=/proc/1/ns/net true && echo entered; "
                  "exec /usr/bin/python3 -c \"$1\" \"$2\"")
        table = rows(("192.168.77.10", "203.0.113.10", "2001:db8:f::10"), (("tcp", 80),))
        done = self.inet("unshare", "--user", "--map-root-user", "--net", "sh", "-c", script, "sh", CONNECT, json.dumps(table))
        self.assertNotIn("entered", done.stdout)
        self.assertNotIn("reached", done.stdout)

    def test_socket_options_do_not_bypass_the_rules(self):
        outcomes = self.python(SOCKET_OPTIONS)
        forbidden = ("192.168.77.10", "2001:db8:1::10")
        self.assertEqual({name: what for name, what in outcomes.items() if what == "made" or any(address in what for address in forbidden)}, {})

    def test_socket_options_work_on_the_host(self):
        """Positive control: some of them work without rules."""
        names = ("fast open", "free bind 192.168.77.5 1", "free bind 192.168.77.5 2", "mark", "packet 3")
        outcomes = json.loads(self.world.run("/usr/bin/python3", "-c", SOCKET_OPTIONS, *names))
        for name in names[:3]:
            self.assertIn("reached ::ffff:192.168.77.10", outcomes[name], name)
        self.assertEqual((outcomes["mark"], outcomes["packet 3"]), ("made", "made"))

    def test_commands_work_on_a_host(self):
        """Positive control, in a World of its own."""
        world = World()
        self.addCleanup(world.close)
        changed = world.run("sh", "-c", HOSTILE, "sh", "print()", "").splitlines()
        self.assertIn(" ip route replace default dev $interface", changed)
        self.assertIn(" nft flush ruleset", changed)
        self.assertGreater(len(changed), 12)


if __name__ == "__main__":
    unittest.main()
