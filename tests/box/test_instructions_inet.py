# SPDX-License-Identifier: MIT
"""What the instructions for Claude say about the tier `inet` is true in the box (in a World)."""
import unittest

from lib.inet import InetTest
from lib.instructions import FILE, InstructionsTest, sentences

# Downloads by name, tries neighbours and this machine, and uses the box's own loopback. Prints an outcome for each.
TRIES = r"""
import json, socket, sys
def ask(place, port=80):
    try:
        with socket.create_connection((place, port), 2) as connection:
            connection.sendall(b"GET")
            return connection.recv(100).decode().split()[0]
    except OSError as error:
        return type(error).__name__
outcomes = {place: ask(place) for place in ("web.test", "192.168.77.10", "100.101.1.10", "169.254.169.254", "192.168.77.5", "127.0.0.1")}
with socket.create_server(("127.0.0.1", 4000)) as server, socket.create_connection(("localhost", 4000), 2):
    outcomes["own"] = server.accept()[1][0]
print(json.dumps(outcomes))
"""
REFUSED = "ConnectionRefusedError"

# Serves on an address and a port of the box until the end of standard input.
SERVE = r"""
import http.server, sys, threading
server = http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""
FETCH = "import sys, urllib.request; print(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(sys.argv[1], timeout=5).read().decode())"


class Inet(InetTest, InstructionsTest):
    def instructions(self, *options):
        return sentences(self.inet("cat", FILE, options=options).stdout)

    def test_the_internet_and_nothing_else(self):
        self.assertTold(self.instructions(), "You have internet access with name resolution, and can download packages.",
                        "Private networks (LAN, VPN, cloud metadata) and services of this machine are refused, on purpose.",
                        "`localhost` is the box's own.")
        outcomes = self.python(TRIES)
        self.assertEqual(outcomes, {"web.test": "reached", "192.168.77.10": REFUSED, "100.101.1.10": REFUSED, "169.254.169.254": REFUSED,
                                    "192.168.77.5": REFUSED, "127.0.0.1": REFUSED, "own": "127.0.0.1"})

    def test_ports(self):
        told = self.instructions("--host-port", 8080, "--publish", 4711)
        self.assertTold(told, "An exception: `127.0.0.1:8080` is a service of the user on the host.",
                        "The user can reach a server that you start on port 4711 at `http://127.0.0.1:4711`.")
        self.assertNotTold(self.instructions(), "An exception", "The user can reach")
        (self.project / "page").write_text("from the box")
        for address in ("127.0.0.1", "0.0.0.0"):
            session = self.start("/usr/bin/python3", "-c", SERVE, address, "4711", options=("--publish", 4711)).expect()
            self.assertEqual(self.world.run("/usr/bin/python3", "-c", FETCH, "http://127.0.0.1:4711/page"), "from the box\n")
            self.assertEqual(session.finish()[0], 0)
        (outcome, _), = self.connect([["tcp", "127.0.0.1", 8080]], options=("--host-port", 8080))
        self.assertEqual(outcome, "reached")


if __name__ == "__main__":
    unittest.main()
