# SPDX-License-Identifier: MIT
"""Connections as outside: proxies, certificates, the address of the API, clouds. Logins and keys stay outside."""
import json
import os
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, BoxTest

AS_ROOT = True

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIBIDCBx6ADAgECAhRcanary\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN PRIVATE KEY-----\ncanary-key\n-----END PRIVATE KEY-----\n"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class ConnectionTest(BoxTest):
    def seen(self, *arguments, env=None):
        """Returns the variables in the box and the audit."""
        done = self.claudebox("--yes", "--audit=full", *arguments, "--exec", "cat", "/proc/self/environ", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(entry.split("=", 1) for entry in done.stdout[:-1].split("\0")), done.stderr

    def left_out(self, *arguments, env=None):
        """Returns the rows of what is not in the box: {what: (why, option)}."""
        return {row["what"]: (row["why"], row["option"]) for row in self.plan(*arguments, env=env)["left_out"]}


class Proxies(ConnectionTest):
    def test_proxies_pass(self):
        env = {name: f"http://proxy-{name[:4].lower()}.example:3128" for name in PROXIES}
        env |= {"NO_PROXY": "localhost,127.0.0.1,.corp.example,10.0.0.0/8", "no_proxy": "*"}
        seen, audit = self.seen(env=env)
        for name, value in env.items():
            self.assertEqual(seen[name], value)
            self.assertRegex(audit, rf"(?m)^  \[>\] {name} +\S")
        self.assertEqual(self.left_out(env=env), {})

    def test_a_proxy_with_a_login_stays_outside_and_is_named(self):
        for value in ("http://user:canary-word@proxy.example:3128", "user:canary-word@proxy.example", "http://canary-user@proxy.example",
                      "http://user:canary%40word%40proxy.example", "http://user:canary/word@proxy.example", "http://user:canary@[2001:db8::1]:3128",
                      "http://proxy.example/\x1b[31mcanary", "http://proxy.example:canary"):
            env = {"HTTPS_PROXY": value, "https_proxy": value}
            seen, audit = self.seen(env=env)
            self.assertFalse({"HTTPS_PROXY", "https_proxy"} & set(seen), value)
            self.assertNotIn("canary", audit, value)
            self.assertIn("CLAUDEBOX_EXTRA_ENV=HTTPS_PROXY,https_proxy", audit)
            for output in ("--dry-run", "--dry-run=json"):
                self.assertNotIn("canary", self.claudebox(output, env=env).stdout)

    def test_a_proxy_with_a_login_passes_by_name_and_is_masked(self):
        value = "http://user:canary-word@proxy.example:3128"
        seen, audit = self.seen(env={"HTTPS_PROXY": value, "CLAUDEBOX_EXTRA_ENV": "HTTPS_PROXY"})
        self.assertEqual(seen["HTTPS_PROXY"], value)
        self.assertNotIn("canary", audit)
        self.assertNotIn("Not in the box", audit)

    def test_no_network_no_proxy(self):
        env = {name: "http://proxy.example:3128" for name in (*PROXIES, "NO_PROXY", "no_proxy")}
        seen, _ = self.seen("--network", "none", env=env)
        self.assertFalse(set(env) & set(seen))

    def test_inet_names_a_proxy_that_it_refuses(self):
        rows = self.left_out("--network", "inet", env={"HTTP_PROXY": "http://10.1.2.3:3128", "HTTPS_PROXY": "http://127.0.0.1:3128",
                                                        "ALL_PROXY": "socks5h://[fd00::1]:1080", "NO_PROXY": "localhost"})
        self.assertEqual(rows["HTTPS_PROXY"], ("it is on this machine's own loopback", "--host-port 3128"))
        self.assertEqual(rows["HTTP_PROXY"][1], "--network full")
        self.assertIn("private", rows["ALL_PROXY"][0])
        self.assertEqual(len(rows), 3)

    def test_a_host_port_makes_the_proxy_reachable(self):
        for host in ("127.0.0.1", "localhost"):
            env = {"HTTPS_PROXY": f"http://{host}:3128"}
            names = {row["name"] for row in self.plan("--network", "inet", "--host-port", "3128", env=env)["environment"]}
            self.assertIn("HTTPS_PROXY", names)
            self.assertNotIn("HTTPS_PROXY", {row["name"] for row in self.plan("--network", "inet", env=env)["environment"]})

    def test_programs_use_the_proxy(self):
        """curl in the box sends its request to the proxy of the host."""
        with subprocess.Popen(["python3", "-c", "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True)\n"
                               "c = s.accept()[0]; print(c.recv(500).decode().splitlines()[0]); "
                               "c.sendall(b'HTTP/1.0 200 OK\\r\\n\\r\\nby proxy')"], stdout=subprocess.PIPE, text=True) as proxy:
            port = proxy.stdout.readline().strip()
            out = self.box("curl -s http://name.example/", env={"http_proxy": f"http://127.0.0.1:{port}"})
            self.assertEqual(out, "by proxy")
            self.assertIn("GET http://name.example/", proxy.stdout.read())


class Certificates(ConnectionTest):
    NAMES = ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "AWS_CA_BUNDLE",
             "CARGO_HTTP_CAINFO", "DENO_CERT")

    def bundle(self, text=CERTIFICATE, place=None):
        path = place or self.home / "certificates" / "corp ca.pem"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def refused_file(self, path, why, name="NODE_EXTRA_CA_CERTS"):
        """Checks that the box has neither the variable nor the file, and that the audit names the reason."""
        done = self.claudebox("--yes", "--audit=full", "--exec", "sh", "-c", f'echo "[${name}]"; cat "$1"', "sh", str(path), env={name: str(path)})
        self.assertIn("[]\n" if name != "SSL_CERT_FILE" else "/etc/", done.stdout)
        self.assertNotIn("canary", done.stdout + done.stderr)
        self.assertRegex(done.stderr, rf"(?s)Not in the box:.*{name}=\S+\s+\({why}")

    def test_a_missing_file_is_listed_once(self):
        for name in self.NAMES:
            rows = self.plan(env={name: "/nowhere/ca.pem", "PLAIN": "1"})["left_out"]
            self.assertEqual([row["what"] for row in rows if name in json.dumps(row)], [f"{name}=/nowhere/ca.pem"], rows)

    def test_the_file_comes_along_read_only(self):
        path = self.bundle()
        (path.parent / "neighbour").write_text("canary-neighbour")
        for name in self.NAMES:
            done = self.claudebox("--yes", "--exec", "sh", "-c", f'cat "${name}"; ls "${{{name}%/*}}"; echo x >>"${name}"; rm -f "${name}"; true',
                                  env={name: str(path)})
            self.assertEqual(done.stdout, CERTIFICATE + "corp ca.pem\n", name + done.stderr)
            self.assertEqual(path.read_text(), CERTIFICATE)

    def test_the_next_box_without_the_variable_has_no_empty_file(self):
        for home in ("project", "shared"):
            self.profile(home=home)
            path = self.bundle()
            env = {"NODE_EXTRA_CA_CERTS": str(path)}
            self.assertEqual(self.box('cat "$NODE_EXTRA_CA_CERTS"; echo kept >~/kept; : >~/empty', env=env), CERTIFICATE)
            self.assertEqual(self.box(f'ls "{path.parent}"; cat ~/kept; ls ~/empty'), f"kept\n{self.home}/empty\n", home)
            # A box that still runs keeps its mount.
            script = f'echo started; read line; cat "{path}"'
            with subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", script], cwd=self.project, env={**self.env, **env}, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as first:
                self.assertEqual(first.stdout.readline(), "started\n")
                self.assertEqual(self.box('cat "$NODE_EXTRA_CA_CERTS"', env=env), CERTIFICATE)
                self.assertEqual(first.communicate("go on\n")[0], CERTIFICATE)
            self.assertEqual(self.box(f'ls "{path.parent}"'), "", home)

    def test_the_file_behind_links_comes_along(self):
        real = self.bundle(place=self.scratch() / "store" / "ca.pem")
        link = self.home / "ca.pem"
        link.symlink_to(real)
        self.assertEqual(self.box('cat "$NODE_EXTRA_CA_CERTS"', env={"NODE_EXTRA_CA_CERTS": str(link)}), CERTIFICATE)

    def test_a_file_with_a_private_key_stays_outside(self):
        for text in (CERTIFICATE + KEY, KEY + CERTIFICATE, KEY.replace("PRIVATE", "ENCRYPTED PRIVATE") + CERTIFICATE):
            for name in ("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
                self.refused_file(self.bundle(text, self.home / "both.pem"), "the\\s+file\\s+has\\s+a\\s+private\\s+key", name)

    def test_a_file_with_anything_beside_the_certificates_stays_outside(self):
        for text in ("password: Xk9mQ2" "vL8pZ\n", "export PGPASSWORD=Xk9mQ2" "vL8pZ\n", "a word\n", KEY.replace(" KEY", "  KEY"),
                     "-----BEGIN CERTIFICATE-----\nMC4CAQAwBQYDK2VwBCIEINGJ\n-----END CERTIFICATE-----\n"):
            self.refused_file(self.bundle(CERTIFICATE + text, self.home / "corp.pem"), "(the|a\\s+block\\s+of\\s+the)\\s+file\\s+(has|is)")

    def test_other_secrets_stay_outside(self):
        self.refused_file(self.bundle("canary-password\n", self.home / "notes.txt"), "the\\s+file\\s+has\\s+no\\s+certificate")
        secret = self.bundle(KEY, self.home / ".ssh" / "id_rsa")
        link = self.home / "ca.pem"
        link.symlink_to(secret)
        for path, why in ((secret, "it\\s+lies\\s+in"), (link, "it\\s+leads\\s+to")):
            self.refused_file(path, why + "\\s+a\\s+secret\\s+place")
        # A certificate among secrets stays outside, too: the place is secret.
        self.refused_file(self.bundle(CERTIFICATE, self.home / ".aws" / "ca.pem"), "it\\s+lies\\s+in\\s+a\\s+secret")

    def test_odd_files_stay_outside(self):
        os.mkfifo(self.home / "fifo")
        huge = self.home / "huge.pem"
        with open(huge, "w", encoding="ascii") as file:
            file.write(CERTIFICATE)
            file.truncate(1 << 33)
        (self.home / "loop").symlink_to("loop")
        for name, why in (("fifo", "it\\s+is\\s+not\\s+a\\s+regular"), ("huge.pem", "it\\s+cannot\\s+be\\s+read"), ("missing.pem", "the\\s+file\\s+does"),
                          ("loop", "the\\s+file\\s+does"), ("", "it\\s+l")):
            start = time.monotonic()
            self.refused_file(self.home / name, why)
            self.assertLess(time.monotonic() - start, 20)

    def test_a_directory_comes_only_by_option(self):
        path = self.bundle().parent
        env = {"SSL_CERT_DIR": str(path)}
        self.assertEqual(self.left_out(env=env)["SSL_CERT_DIR=~/certificates"][1], "--mount-ro ~/certificates")
        seen, audit = self.seen("--mount-ro", path, env=env)
        self.assertEqual(seen["SSL_CERT_DIR"], str(path))
        self.assertNotIn("Not in the box", audit)
        self.assertEqual(self.seen(env={"SSL_CERT_DIR": "/etc/ssl/certs"})[0]["SSL_CERT_DIR"], "/etc/ssl/certs")

    def test_names_that_forge_lines_are_escaped(self):
        _, audit = self.seen(env={"NODE_EXTRA_CA_CERTS": "/tmp/a\n  ! forged\x1b[31m", "CURL_CA_BUNDLE": "relative.pem"})
        self.assertNotIn("\x1b", audit)
        self.assertNotRegex(audit, r"(?m)^  ! forged")
        self.assertRegex(audit, r"CURL_CA_BUNDLE=relative.pem\s+\(it\s+is\s+no\s+absolute")

    def test_the_cafile_of_npm_comes_along(self):
        path = self.bundle()
        (self.home / ".npmrc").write_text(f"registry=https://npm.corp.example/\ncafile={path}\n".replace("corp ca", "corp-ca"))
        self.bundle(place=path.parent / "corp-ca.pem")
        out = self.box(f'grep cafile /run/claudebox/npmrc; cat {path.parent}/corp-ca.pem')
        self.assertEqual(out.splitlines()[-1], "-----END CERTIFICATE-----")
        self.assertIn(f"cafile={path.parent}/corp-ca.pem", out)
        self.bundle(CERTIFICATE + KEY, path.parent / "corp-ca.pem")
        self.assertNotIn("canary", self.box(f"cat {path.parent}/corp-ca.pem; true"))


class Api(ConnectionTest):
    def test_without_a_network_claude_fails_at_once_whatever_was_requested(self):
        self.fake_claude()
        for extra in ("", "ANTHROPIC_BASE_URL"):
            with self.subTest(extra):
                plan = self.plan("--network", "none", env={"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "CLAUDEBOX_EXTRA_ENV": extra})
                self.assertIn("CLAUDE_CODE_MAX_RETRIES", {row["name"] for row in plan["environment"]})
                self.assertIn("Claude cannot reach its API in the tier none", "\n".join(plan["warnings"]))

    def test_harmless_variables_pass(self):
        env = {"ANTHROPIC_BASE_URL": "https://gateway.corp.example/anthropic", "ANTHROPIC_MODEL": "claude-x", "ANTHROPIC_SMALL_FAST_MODEL": "claude-y",
               "ANTHROPIC_DEFAULT_OPUS_MODEL": "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-x",
               "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "4096", "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1", "API_TIMEOUT_MS": "60000", "DISABLE_TELEMETRY": "1",
               "MAX_THINKING_TOKENS": "1024"}
        seen, audit = self.seen(env=env)
        for name, value in env.items():
            self.assertEqual(seen.get(name), value, name)
        self.assertNotIn("Not in the box", audit)

    def test_an_address_with_a_login_or_a_token_stays_outside(self):
        for value in ("https://user:canary-word@gateway.example", "https://gateway.example/t/canary", "https://canary@gateway.example/x",
                      "https://gateway.example/?api_key=canary-canary", "https://gateway.example/canaryk3Rz9QmV1xT7bN5cY8wL2pD4",
                      "https://gateway.example/\x1b]0;canary\x07"):
            seen, audit = self.seen(env={"ANTHROPIC_BASE_URL": value})
            self.assertRegex(seen["ANTHROPIC_BASE_URL"], r"^https://[a-z-]+\.invalid/$")
            self.assertNotIn("canary", audit)
            self.assertIn("CLAUDEBOX_EXTRA_ENV=ANTHROPIC_BASE_URL", audit)

    def test_logins_pass_masked(self):
        for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"):
            for value in ("canary", "sk-ant-oat01-canarycanarycanarycanarycanary"):
                seen, audit = self.seen(env={name: value})
                self.assertEqual(seen[name], value)
                self.assertNotIn("canary", audit)
                self.assertRegex(audit, rf"! variables that look like secrets pass into the box: .*\b{name}\b")

    def test_variables_that_name_programs_or_log_in_are_named_and_stay_outside(self):
        env = {"CLAUDE_CODE_SHELL_PREFIX": "/x/wrap", "CLAUDE_CODE_PROCESS_WRAPPER": "/x/wrap", "ANTHROPIC_CUSTOM_HEADERS": "X-Key: canary"}
        seen, audit = self.seen(env=env)
        self.assertFalse(set(env) & set(seen))
        for name in env:
            self.assertRegex(audit, rf"(?m)^  {name} \(")
        self.assertNotIn("canary", audit)

    def test_an_address_that_inet_refuses_is_reported(self):
        warnings = self.plan("--network", "inet", env={"ANTHROPIC_BASE_URL": "http://127.0.0.1:4000"})["warnings"]
        self.assertIn("the box cannot reach the address in ANTHROPIC_BASE_URL: it is on this machine's own loopback; --host-port 4000", warnings)

    def test_other_secrets_are_named_in_one_row(self):
        env = {"GITHUB_TOKEN": "canary-1-k3Rz9QmV1xT7bN5c", "DB_PASSWORD": "canary-2", "MY_VAR": "gh" "p_k3Rz9QmV1xT7bN5cY8wL2pD4sF6hJ0aG1eU3", "PLAIN": "x"}
        seen, audit = self.seen(env=env)
        self.assertFalse(set(env) & set(seen))
        rows = self.left_out(env=env)
        self.assertEqual(rows.pop("1 other variable of your environment")[1], "CLAUDEBOX_EXTRA_ENV=PLAIN")
        self.assertEqual(len(rows), 1, rows)
        what, (_, option) = rows.popitem()
        self.assertEqual(sorted(what.removeprefix("variables: ").split(", ")), ["DB_PASSWORD", "GITHUB_TOKEN", "MY_VAR"])
        self.assertEqual(option, "CLAUDEBOX_EXTRA_ENV=GITHUB_TOKEN,DB_PASSWORD,MY_VAR")
        self.assertNotIn("canary", audit)


class Clouds(ConnectionTest):
    def test_switch_and_region_pass_and_credentials_are_named(self):
        env = {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "canary-id", "AWS_SECRET_ACCESS_KEY": "canary-key"}
        seen, audit = self.seen(env=env)
        self.assertEqual((seen["CLAUDE_CODE_USE_BEDROCK"], seen["AWS_REGION"]), ("1", "eu-west-1"))
        self.assertNotIn("AWS_SECRET_ACCESS_KEY", seen)
        self.assertNotIn("canary", audit)
        self.assertIn("CLAUDEBOX_EXTRA_ENV=AWS_ACCESS_KEY_ID,AWS_SECRET_ACCESS_KEY", audit)
        env["CLAUDEBOX_EXTRA_ENV"] = "AWS_ACCESS_KEY_ID,AWS_SECRET_ACCESS_KEY"
        seen, audit = self.seen(env=env)
        self.assertEqual(seen["AWS_SECRET_ACCESS_KEY"], "canary-key")
        self.assertNotIn("Not in the box", audit)

    def test_missing_credentials_are_named_with_the_option(self):
        env = {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_PROFILE": "work"}
        (self.home / ".aws").mkdir()
        (self.home / ".aws/credentials").write_text("[work]\naws_secret_access_key = canary\n")
        what, (_, option) = self.left_out(env=env).popitem()
        self.assertEqual(what, "credentials of Amazon Bedrock: AWS_PROFILE")
        self.assertEqual(option, "CLAUDEBOX_EXTRA_ENV=AWS_PROFILE with --mount-ro ~/.aws")
        self.assertEqual(self.left_out("--mount-ro", self.home / ".aws", env={**env, "CLAUDEBOX_EXTRA_ENV": "AWS_PROFILE"}), {})
        row = self.left_out(env={"CLAUDE_CODE_USE_FOUNDRY": "1"})["credentials of Microsoft Foundry"]
        self.assertIn("CLAUDEBOX_EXTRA_ENV=ANTHROPIC_FOUNDRY_API_KEY", row[1])


class Login(ConnectionTest):
    def test_the_login_is_named_when_it_enters(self):
        (self.home / ".claude").mkdir()
        (self.home / ".claude/.credentials.json").write_text('{"claudeAiOauth": {"accessToken": "canary-token-0", "expiresAt": 1}}')
        self.assertEqual(self.plan()["login"], f"{self.home}/.claude/.credentials.json")
        audit = self.seen()[1]
        self.assertIn("your Claude login, from ~/.claude/.credentials.json", " ".join(audit.split()))
        self.assertNotIn("canary", audit)

    def test_without_a_login_none_is_shown(self):
        _, audit = self.seen()
        self.assertNotIn(".credentials.json", audit)
        self.assertIsNone(self.plan()["login"])

    def test_a_literal_secret_in_a_profile_is_reported(self):
        self.profile("work", env={"MY_TOKEN": "canary-k3Rz9QmV1xT7bN5c", "PLAIN": "x"})
        warnings = " ".join(self.plan("--profile", "work")["warnings"])
        self.assertRegex(warnings, r"'MY_TOKEN' is a secret in plain text in .*\"extra_env_passthrough\"")
        self.assertNotIn("PLAIN", warnings)
        self.assertNotIn("canary", warnings)
        self.profile("work", extra_env_passthrough=["MY_TOKEN"])
        self.assertNotIn("plain text", " ".join(self.plan("--profile", "work", env={"MY_TOKEN": "canary-k3Rz9QmV1xT7bN5c"})["warnings"]))


if __name__ == "__main__":
    unittest.main()
