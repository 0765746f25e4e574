# SPDX-License-Identifier: MIT
"""Credentials with the real Claude Code: a token that one side refreshes reaches the other side, and is refreshed once."""
import json
import os
import time
import unittest

from claude.claude import ClaudeTest


class Credentials(ClaudeTest):
    oauth = True
    standin_options = {"refresh_delay": 0.3}
    shared_locks = True

    def setUp(self):
        super().setUp()
        self.file = self.home / ".claude" / ".credentials.json"
        self.file.parent.mkdir()

    def log_in(self, expires_in, **more):
        grant = self.api.grant(expires_in)
        self.file.write_text(json.dumps(grant | more))
        self.file.chmod(0o600)
        return grant["claudeAiOauth"]["accessToken"]

    def token(self):
        return json.loads(self.file.read_text())["claudeAiOauth"]["accessToken"]

    def wait_until(self, condition, what):
        end = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)

    def test_the_hosts_credentials_work(self):
        token = self.log_in(3600)
        self.assertEqual(self.turn("hello").stdout, "ECHO hello\n")
        self.assertEqual({entry["auth"] for entry in self.messages()}, {f"Bearer {token}"})
        self.assertEqual(self.token(), token)

    def test_a_refresh_in_the_box_reaches_the_host(self):
        old = self.log_in(-60, mcpOAuth={"server": {"accessToken": "CANARY-MCP"}})
        inode = self.file.stat().st_ino
        done = self.turn("RUN: cat ~/.claude/.credentials.json /run/claudebox/sign-in/store/.credentials.json")
        self.assertIn("DONE", done.stdout, done.stderr)
        self.assertNotIn("CANARY-MCP", done.stdout)
        self.assertEqual((self.api.refreshes, self.api.reused), (1, 0))
        self.assertNotEqual(self.token(), old)
        self.assertTrue(self.api.good(self.token()))
        self.assertEqual(json.loads(self.file.read_text())["mcpOAuth"]["server"]["accessToken"], "CANARY-MCP")
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        self.assertNotEqual(self.file.stat().st_ino, inode, "the file is replaced, not written in place")
        # The next start uses the new token.
        self.assertEqual(self.turn("again").stdout, "ECHO again\n")
        self.assertEqual(self.api.refreshes, 1)

    def test_a_refresh_on_the_host_reaches_a_running_box(self):
        self.log_in(3600)
        process = self.start_turn("RUN: touch ready; i=0; while [ ! -e go ] && [ $i -lt 200 ]; do i=$((i+1)); /usr/bin/sleep 0.1; done; echo went on")
        self.wait_until((self.project / "ready").exists, "the tool did not start")
        new = self.api.grant(7200)
        temporary = self.file.with_suffix(".tmp")
        temporary.write_text(json.dumps(new))
        os.rename(temporary, self.file)
        for token in list(self.api.access):
            if token != new["claudeAiOauth"]["accessToken"]:
                self.api.revoke(token)
        time.sleep(0.5)
        (self.project / "go").touch()
        output, errors = process.communicate(timeout=120)
        self.assertIn("went on", output, errors)
        self.assertEqual(self.api.refreshes, 0)
        self.assertEqual(self.messages()[-1]["auth"], "Bearer " + new["claudeAiOauth"]["accessToken"])

    def test_several_boxes_refresh_once(self):
        self.log_in(-60)
        projects = []
        for number in range(3):
            path = self.home / f"project{number}"
            path.mkdir()
            (path / "standin-ca.pem").write_bytes((self.project / "standin-ca.pem").read_bytes())
            projects.append(path)
        running = [self.start_turn("hello", cwd=path, env={"NODE_EXTRA_CA_CERTS": str(path / "standin-ca.pem")})
                   for path in projects]
        for process in running:
            output, errors = process.communicate(timeout=120)
            self.assertEqual(output, "ECHO hello\n", errors)
        self.assertEqual(self.api.refreshes, 1)
        if self.shared_locks:
            self.assertEqual(self.api.reused, 0)
        self.assertTrue(self.api.good(self.token()))

    def test_an_invalid_refresh_token_does_not_change_the_hosts_file(self):
        self.log_in(-60)
        for token in self.api.refresh:
            self.api.refresh[token] = False
        before = self.file.read_text()
        process = self.start_turn("hello")
        try:
            process.communicate(timeout=15)
        except Exception:  # the older version retries for minutes
            process.terminate()
            process.communicate(timeout=30)
        self.assertEqual(self.file.read_text(), before)

    def test_the_box_cannot_write_other_files_of_the_host(self):
        self.log_in(3600)
        before = sorted(path.name for path in self.file.parent.iterdir())
        self.turn("RUN: touch /run/claudebox/sign-in/x /run/claudebox/sign-in/store/y ~/.claude/z; echo done")
        self.assertEqual(sorted(path.name for path in self.file.parent.iterdir()), before)

    def test_without_credentials_there_is_no_warning(self):
        done = self.box("ls -A /run/claudebox/sign-in/store")
        self.assertEqual(done, "")
        self.assertFalse(self.file.exists())
        audit = self.claudebox("--yes", "--exec", "true").stderr
        self.assertNotIn("credentials", audit.split("Warnings:")[-1])

    def test_a_login_in_a_box_is_kept_for_all_projects(self):
        grant = json.dumps(self.api.grant(3600))
        self.box("printf %s \"$1\" > /run/claudebox/sign-in/store/.credentials.json", grant)
        other = self.home / "other"
        other.mkdir()
        (other / "standin-ca.pem").write_bytes((self.project / "standin-ca.pem").read_bytes())
        done = self.turn("hello", cwd=other, env={"NODE_EXTRA_CA_CERTS": str(other / "standin-ca.pem")})
        self.assertEqual(done.stdout, "ECHO hello\n", done.stderr)
        self.assertFalse(self.file.exists(), "a login in a box is not copied to the host")

    def test_a_logout_on_the_host_logs_the_boxes_out(self):
        self.log_in(3600)
        self.turn("hello")
        self.file.unlink()
        self.assertEqual(self.box("ls -A /run/claudebox/sign-in/store"), "")


class CredentialsOld(Credentials):
    kind = "CLAUDE_OLD"
    # The older version puts its lock beside its configuration, which boxes do not share. It recovers by reading the file again.
    shared_locks = False


del ClaudeTest

if __name__ == "__main__":
    unittest.main()
