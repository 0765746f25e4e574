# SPDX-License-Identifier: MIT
"""Runs the real Claude Code with a fake of its API."""
import os
import subprocess

from lib.box import CLAUDEBOX, BoxTest
from lib.standin import Standin


class ClaudeTest(BoxTest):
    """CLAUDE_NEW is a native program, CLAUDE_OLD a cli.js that needs node. run.py installs both."""

    kind = "CLAUDE_NEW"
    oauth = False
    standin_options = {}

    def setUp(self):
        super().setUp()
        if self.kind not in os.environ:
            self.fail(f"{self.kind} is not installed: the npm registry was not reached")
        self.api = Standin(oauth=self.oauth, listener=self.listener(), **self.standin_options)
        self.api.__enter__()
        self.addCleanup(self.api.__exit__)
        self.api_key = "sk-ant-test-" + "0123456789abcdef" * 3
        self.env |= {"CLAUDEBOX_CLAUDE": os.environ[self.kind], "ANTHROPIC_BASE_URL": self.api.url,
                     "CLAUDEBOX_EXTRA_ENV": "ANTHROPIC_BASE_URL"}
        if not self.oauth:
            self.env["ANTHROPIC_API_KEY"] = self.api_key
        else:
            # Claude refreshes tokens at a fixed address, so the fake API is its proxy. The certificate is in the project.
            self.env |= self.api.proxy_env()
            authority = self.project / "standin-ca.pem"
            authority.write_bytes(open(self.api.ca_file, "rb").read())
            self.env["NODE_EXTRA_CA_CERTS"] = str(authority)
            self.env["CLAUDEBOX_EXTRA_ENV"] += ",HTTPS_PROXY,HTTP_PROXY,NO_PROXY,NODE_EXTRA_CA_CERTS"

    def listener(self):
        """Returns the socket on which the fake API listens; None: one on loopback."""
        return None

    def claude(self, *arguments, **options):
        return self.claudebox("--yes", *arguments, timeout=120, **options)

    def turn(self, words, **options):
        return self.claude("-p", words, **options)

    def start_turn(self, words, cwd=None, env=None):
        return subprocess.Popen([CLAUDEBOX, "--yes", "-p", words], cwd=cwd or self.project, env={**self.env, **(env or {})},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def messages(self):
        """Returns the requests to the model, in order."""
        return [entry for entry in self.api.requests if entry["path"].startswith("/v1/messages?")]
