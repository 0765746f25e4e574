# SPDX-License-Identifier: MIT
"""The real Claude Code with `--network inet`, in a network of the test's own; its API is on the internet side."""
import unittest

from claude.claude import ClaudeTest
from lib.inet import InetTest

AS_ROOT = True


class Inet(InetTest, ClaudeTest):
    def listener(self):
        return self.world.listen("203.0.113.10", self.world.outside)

    def test_a_turn(self):
        done = self.claude("--network", "inet", "-p", "RUN: echo from the box > made.txt; cat /etc/resolv.conf")
        self.assertIn("DONE", done.stdout, done.stderr[-500:])
        self.assertIn("nameserver 127.0.0.53", done.stdout)
        self.assertEqual((self.project / "made.txt").read_text(), "from the box\n")

    def test_the_bash_tool_reaches_only_the_internet(self):
        script = "for address in 192.168.77.10 169.254.169.254 192.168.77.5; do (exec 3<>/dev/tcp/$address/80) 2>&1; done; " \
                 "(exec 3<>/dev/tcp/203.0.113.20/80) && echo internet"
        done = self.claude("--network", "inet", "-p", f"RUN: {script}")
        self.assertEqual(done.stdout.count("80: Connection refused"), 3, done.stdout)
        self.assertIn("internet", done.stdout)

    def test_the_instructions_describe_the_network(self):
        self.claude("--network", "inet", "-p", "hello")
        self.assertIn("Private networks", str(self.messages()[0]["body"]))

    def test_an_api_on_the_hosts_loopback_by_host_port(self):
        with self.world.listen("127.0.0.1") as listener:
            port = listener.getsockname()[1]
            done = self.claudebox("--network", "inet", "--host-port", port, "--yes", "--exec", "bash", "-c",
                                  f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected")
        self.assertEqual(done.stdout, "connected\n", done.stderr[-500:])


if __name__ == "__main__":
    unittest.main()
