# SPDX-License-Identifier: MIT
"""The real Claude Code with the user's connections: base URL, model, token, proxy and certificate, and no network."""
import json
import time
import unittest

from claude.claude import ClaudeTest

AS_ROOT = ("test_base_url_and_model_of_the_environment", "test_proxy_and_certificate")


class Connections(ClaudeTest):
    def setUp(self):
        super().setUp()
        del self.env["CLAUDEBOX_EXTRA_ENV"]

    def test_base_url_and_model_of_the_environment(self):
        done = self.turn("hello", env={"ANTHROPIC_MODEL": "claude-canary-model"})
        self.assertEqual(done.stdout, "ECHO hello\n", done.stderr)
        self.assertIn("claude-canary-model", {entry["body"]["model"] for entry in self.messages()})

    def test_a_token_for_a_gateway(self):
        del self.env["ANTHROPIC_API_KEY"]
        done = self.turn("hello", env={"ANTHROPIC_AUTH_TOKEN": "canary-gateway-token"})
        self.assertEqual(done.stdout, "ECHO hello\n", done.stderr)
        self.assertEqual({entry["auth"].removeprefix("Bearer ") for entry in self.messages()}, {"canary-gateway-token"})
        self.assertNotIn("canary", done.stderr)

    def test_an_address_with_a_login_reaches_no_other_api(self):
        start = time.monotonic()
        done = self.turn("hello", env={"ANTHROPIC_BASE_URL": self.api.url.replace("//", "//user:canary-word@")})
        self.assertNotEqual(done.returncode, 0)
        self.assertLess(time.monotonic() - start, 60)
        self.assertEqual(self.messages(), [])
        self.assertNotIn("canary", done.stderr)

    def test_without_a_network_the_error_comes_within_seconds(self):
        """Without the variables of the tier none, it takes more than three minutes."""
        start = time.monotonic()
        self.turn("hello")
        usual = time.monotonic() - start  # of a machine that may be busy
        for network in (("--network", "none"), ("--profile", "offline")):
            self.profile("offline", network="none")
            start = time.monotonic()
            done = self.claude(*network, "-p", "hello", env={"ANTHROPIC_BASE_URL": "https://api.anthropic.com"})
            self.assertLess(time.monotonic() - start, max(15, 3 * usual))
            self.assertNotIn(done.returncode, (0, 125))
            self.assertIn("API", done.stdout + done.stderr)
            self.assertRegex(" ".join(done.stderr.split()), r"! Claude cannot reach its API in the tier none .* --network inet")


class ConnectionsOfCliJs(Connections):
    kind = "CLAUDE_OLD"


class Proxy(ClaudeTest):
    """The token endpoint is reached through the proxy, whose certificate is in the user's home."""

    oauth = True

    def test_proxy_and_certificate(self):
        del self.env["CLAUDEBOX_EXTRA_ENV"]
        authority = self.home / "company" / "ca.pem"
        authority.parent.mkdir()
        (self.project / "standin-ca.pem").rename(authority)
        self.env["NODE_EXTRA_CA_CERTS"] = str(authority)
        claude = self.home / ".claude"
        claude.mkdir()
        (claude / ".credentials.json").write_text(json.dumps(self.api.grant(expires_in=-60)))
        done = self.turn("hello")
        self.assertEqual(done.stdout, "ECHO hello\n", done.stderr)
        self.assertEqual(self.api.refreshes, 1)


class ProxyOfCliJs(Proxy):
    kind = "CLAUDE_OLD"


del ClaudeTest

if __name__ == "__main__":
    unittest.main()
