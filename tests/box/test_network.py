# SPDX-License-Identifier: MIT
"""The tier `none` has its own loopback only; `full` is the host's network."""
import os
import socket
import subprocess
import threading
import unittest

from lib.box import CLAUDEBOX, LOOPBACK, BoxTest
from lib.other_host import OtherHost

AS_ROOT = True

CONNECT = """
import socket, sys
for family, address in ((socket.AF_INET, ("127.0.0.1", int(sys.argv[1]))), (socket.AF_INET6, ("::1", int(sys.argv[1]))),
                        (socket.AF_UNIX, "\\0" + sys.argv[2])):
    try:
        with socket.socket(family) as connection:
            connection.settimeout(2)
            connection.connect(address)
            print("reached")
    except OSError:
        print("refused")
"""


class Network(BoxTest):
    def setUp(self):
        super().setUp()
        self.server = socket.socket(socket.AF_INET6)
        self.server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.server.bind(("::", 0))
        self.abstract = socket.socket(socket.AF_UNIX)
        self.name = f"claudebox-test-{os.getpid()}-{threading.get_ident()}"
        self.abstract.bind("\0" + self.name)
        for listener in (self.server, self.abstract):
            listener.listen()
            self.addCleanup(listener.close)

    def in_tier(self, tier, *command):
        done = self.claudebox("--network", tier, "--yes", "--exec", *command)
        self.assertEqual(done.returncode, 0, done.stderr[-400:])
        return done.stdout.split()

    def test_none_reaches_nothing_of_the_host(self):
        port = str(self.server.getsockname()[1])
        self.assertEqual(self.in_tier("none", "python3", "-c", CONNECT, port, self.name), ["refused"] * 3)

    def test_full_is_the_hosts_network(self):
        """Positive control: the script reaches the host's server in this tier."""
        port = str(self.server.getsockname()[1])
        self.assertEqual(self.in_tier("full", "python3", "-c", CONNECT, port, self.name)[0], "reached")

    def test_a_server_in_full_listens_on_the_hosts_localhost(self):
        script = ("import socket; server = socket.create_server(('127.0.0.1', 0)); print(server.getsockname()[1], flush=True); "
                  "server.accept()[0].sendall(b'from the box')")
        box = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "python3", "-c", script], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(box.kill)
        with box.stdout, socket.create_connection(("localhost", int(box.stdout.readline())), 5) as connection:
            self.assertEqual(connection.recv(100), b"from the box")
        self.assertEqual(box.wait(20), 0)

    def test_none_has_a_working_loopback(self):
        self.assertEqual(self.in_tier("none", "python3", "-c", LOOPBACK), ["x", "x"])

    def test_none_has_no_other_interface(self):
        names = self.in_tier("none", "sh", "-c", "sed 1,2d /proc/net/dev | cut -d: -f1; cut -f1,2 /proc/net/route | sed 1d")
        self.assertEqual(names, ["lo"])

    def test_none_gives_no_way_to_another_network(self):
        out = self.in_tier("none", "sh", "-c", "ip link add x type dummy 2>/dev/null && echo made; ip link set lo down 2>/dev/null && echo down; "
                           "nsenter -t 1 -n true 2>/dev/null && echo entered; python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)' "
                           "2>/dev/null && echo raw; echo end")
        self.assertEqual([word for word in out if word != "entered"], ["end"])

    def test_none_has_no_nix_daemon(self):
        """The daemon would run builds with the host's network."""
        host = OtherHost(self, {"/nix/store/x/y": "", "/nix/var/nix/daemon-socket/keep": ""})
        done = host.claudebox("--network", "none", "--yes", "--exec", "sh", "-c", "ls -A /nix; echo ${NIX_REMOTE-unset}")
        self.assertEqual(done.stdout.split(), ["store", "unset"], done.stderr[-300:])

    def test_tier_is_shown_to_agent_and_user(self):
        done = self.claudebox("--network", "none", "--yes", "--audit=full", "--exec", "cat", "/etc/claude-code/SANDBOX.md")
        self.assertIn("There is no network, on purpose", done.stdout)
        self.assertIn("`localhost` is the box's own", done.stdout)
        self.assertNotIn("The network is the host's own", done.stdout)
        self.assertIn("none: no network except the box's own loopback", done.stderr)
        self.assertNotIn("can reach the LAN", done.stderr)
        self.assertEqual(self.plan("--network", "none")["network"], "none")


if __name__ == "__main__":
    unittest.main()
