# SPDX-License-Identifier: MIT
"""Connects to addresses and prints the outcomes. Tests run it in a box with `python3 -c`, so it imports no module of the tests.

usage: connect.py [JSON]. JSON is a list of [protocol, address, port]; the script prints a list of [outcome, seconds]. Without JSON it
prints "ready" and reads one list from each line of standard input.
Outcomes: "reached"; the name of an error of connect or send, with the prefix "late " if recv failed instead; "silent" after a timeout;
"wrong" for an unexpected answer.
Protocols: tcp, udp (connected), datagram (unconnected), ping. An address that ends in % gets the first interface with a link-local one.
"""
import errno
import json
import socket
import struct
import sys
import time

TIMEOUT = 1.0
IPV6_RECVERR = 25


def echo_request(family):
    return struct.pack("!BBHHH", 128 if family == socket.AF_INET6 else 8, 0, 0, 0, 1) + b"claudebox"


def attempt(protocol, address, port):
    if address.endswith("%"):
        with open("/proc/net/if_inet6", encoding="ascii") as table:
            address += sorted((int(line.split()[1], 16), line.split()[5]) for line in table if line.startswith("fe80"))[0][1]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    place = socket.getaddrinfo(address, 0 if protocol == "ping" else port, family, socket.SOCK_DGRAM, 0, socket.AI_NUMERICHOST)[0][4]
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    number = 0
    if protocol == "ping":
        number = socket.IPPROTO_ICMPV6 if family == socket.AF_INET6 else socket.IPPROTO_ICMP
    message = echo_request(family) if protocol == "ping" else b"claudebox"
    with socket.socket(family, kind, number) as connection:
        connection.settimeout(TIMEOUT)
        if protocol == "ping" and family == socket.AF_INET6:
            # As ping does: otherwise the kernel does not report errors to an IPv6 sender.
            connection.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
        late = ""
        try:
            if protocol in ("tcp", "udp"):
                connection.connect(place)
                connection.send(message)
            else:
                connection.sendto(message, place)
            late = "late "
            answer = connection.recv(4096)
        except TimeoutError:
            return "silent"
        except OSError as error:
            return late + errno.errorcode.get(error.errno, str(error))
    if protocol == "ping":
        return "reached" if answer[:1] in (b"\0", b"\x81") and answer.endswith(b"claudebox") else "wrong"
    return "reached" if answer.startswith(b"reached ") and answer.endswith(b" claudebox") else "wrong"


def connect_all(table):
    results = []
    for protocol, address, port in table:
        started = time.monotonic()
        try:
            outcome = attempt(protocol, address, port)
        except OSError as error:
            outcome = errno.errorcode.get(error.errno, str(error))
        results.append([outcome, round(time.monotonic() - started, 3)])
    print(json.dumps(results), flush=True)


if len(sys.argv) > 1:
    connect_all(json.loads(sys.argv[1]))
else:
    print("ready", flush=True)
    for line in sys.stdin:
        connect_all(json.loads(line))
