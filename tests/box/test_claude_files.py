# SPDX-License-Identifier: MIT
"""Secrets in Claude's own files: settings, plugins, skills, hooks and company policy. None of them is in the box, each is named, and
the rest works. The values are generated, so that no scanner of repositories finds a token here."""
import json
import os
import random
import socket
import string
import subprocess
import unittest

from box.test_state import StateTest
from lib.box import CLAUDEBOX
from lib.other_host import OtherHost

# Searches the box for texts on standard input; prints the files that contain one of them.
SEARCH = r"""
import glob, json, os, sys
wanted = [text.encode() for text in json.load(sys.stdin)]
places = glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline")
for top in (os.path.expanduser("~"), "/run", "/etc", "/tmp", "/var"):
    for directory, names, files in os.walk(top):
        places += [os.path.join(directory, name) for name in files]
for place in places:
    try:
        content = open(place, "rb").read()
    except OSError:
        continue
    for text in wanted:
        if text in content:
            print(place, text[:4])
"""
RANDOM = random.Random(20)


def text(length, letters=string.ascii_letters + string.digits):
    return "".join(RANDOM.choice(letters) for _ in range(length))


def secret(length):
    """A random text with digits between its letters."""
    return "".join(text(1) + text(1, string.digits) for _ in range(length // 2))


def token():
    return "gh" + "p_" + text(36)


class ClaudeFiles(StateTest):
    def setUp(self):
        super().setUp()
        self.planted = []

    def plant(self, value):
        self.planted.append(value)
        return value

    def start(self, script=SEARCH, *options, run=None, **more):
        """Searches the box for everything planted. Returns the audit."""
        done = (run or self.claudebox)("--yes", *options, "--exec", "python3", "-c", script, stdin=None, input=json.dumps(self.planted), **more)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        said = " ".join(done.stderr.replace("\n    ", " ").split())
        for value in self.planted:
            self.assertNotIn(value, said)
        return said

    def test_everyday_secrets_in_settings(self):
        plant = self.plant
        env = {"MYSQL_PWD": plant(text(9)), "DB_PASS": plant(text(14)), "GITHUB_PAT": plant(token()),
               "OTEL_EXPORTER_OTLP_HEADERS": "x-team=" + plant(text(20)), "ANTHROPIC_CUSTOM_HEADERS": "X-Corp: " + plant(text(20)),
               "NOTIFY": "https://hooks.slack.com/services/T0001/B0001/" + plant(text(24)),
               "SENTRY_DSN": f"https://{plant(text(32, '0123456789abcdef'))}@o1.ingest.sentry.io/1",
               "ANTHROPIC_BASE_URL": f"https://u:{plant(text(12))}@proxy.example", "COMPANY_THING": plant(text(16)),
               "MAX_THINKING_TOKENS": "8000", "DISABLE_TELEMETRY": "1", "ASKED_FOR": "harmless"}
        self.write(self.claude / "settings.json", {
            "env": env, "model": "opus",
            "permissions": {"allow": ["Read", f"Bash(GITHUB_TOKEN={plant(token())} gh pr list)", f"Bash(mysql -u root -p{plant(text(12))}:*)",
                                      f"Bash(sshpass -p {plant(text(12))} ssh x)", f"Bash(vault login {plant(text(24))})"]},
            "statusLine": {"type": "command", "command": f"curl -H 'Authorization: Bearer {plant(text(40))}' https://x.example"},
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"API_KEY={plant(text(32))} true"},
                                          {"type": "command", "command": "true"}]}]},
            "mcpServers": {"db": {"command": "npx", "args": ["x", "--token", plant(text(32))]}},
            "extraKnownMarketplaces": {"corp": {"source": {"source": "git", "url": f"https://{plant(token())}@github.com/a/b"}}},
            "awsAuthRefresh": "aws " + plant(token()), "apiKeyHelper": "echo " + plant(token()), "otelHeadersHelper": plant(token())})
        self.profile("default", extra_env_passthrough=["ASKED_FOR"])
        said = self.start()
        names = [name for name in env if name not in ("MAX_THINKING_TOKENS", "DISABLE_TELEMETRY", "ASKED_FOR")]
        for name in [*names, "permissions.allow[1]", "permissions.allow[2]", "permissions.allow[3]", "permissions.allow[4]", "statusLine", "hooks.Stop[0].hooks[0]", "mcpServers.db.args[2]",
                     "extraKnownMarketplaces.corp.source.url", "awsAuthRefresh", "apiKeyHelper", "otelHeadersHelper"]:
            self.assertIn(name, said)
        self.assertIn('"extra_env_passthrough"', said)
        kept = json.loads((self.instance() / "claude" / "settings.json").read_text())
        self.assertEqual(kept["env"], {"MAX_THINKING_TOKENS": "8000", "DISABLE_TELEMETRY": "1", "ASKED_FOR": "harmless"})
        self.assertEqual((kept["model"], kept["permissions"]["allow"]), ("opus", ["Read"]))
        self.assertEqual(kept["hooks"]["Stop"][0]["hooks"], [{"type": "command", "command": "true"}])
        self.assertEqual(kept["extraKnownMarketplaces"]["corp"]["source"]["url"], "https://github.com/a/b")

    def plugin(self):
        """Creates plugins, skills and hooks with secrets. Returns the names that the audit must give."""
        plant, place = self.plant, self.claude / "plugins" / "marketplaces" / "corp"
        self.write(place / ".git/config", f"[remote \"origin\"]\n\turl = https://{plant(token())}@github.com/a/b\n")
        self.write(place / "one/.mcp.json", {"mcpServers": {"db": {"command": "x", "env": {"DB_PASS": plant(text(12)), "MODE": "ro"},
                                                                   "headers": {"X-Corp": plant(text(20))}}}})
        self.write(place / "one/.env", "X=" + plant(text(20)))
        self.write(place / "one/hooks/hook.sh", f"#!/bin/sh\ncurl -u x:{plant(token())} https://x.example\n")
        self.write(place / "one/hooks/clean.sh", "#!/bin/sh\necho clean\n")
        self.write(place / "one/skills/s/SKILL.md", "a skill\n")
        self.write(place / "two/commands/c.md", "a command\n")
        self.write(place / "two/node_modules/p/test/key.pem", "a key for tests\n")
        self.write(self.claude / "plugins/known.json", {"corp": {"url": f"https://{plant(token())}@github.com/a/b", "n": 1}})
        self.write(self.claude / "skills/deploy/deploy.py", f"key = '{plant(token())}'\n")
        self.write(self.claude / "skills/tidy/SKILL.md", "tidy\n")
        self.write(self.claude / "skills/deploy/run.py", f"DB_PASSWORD = '{plant(secret(16))}'\n")
        self.write(self.claude / "skills/deploy/nul.md", f"use {plant(token())}\0")
        self.write(self.claude / "skills/deploy/passwords.txt", plant(text(12)))
        self.write(self.claude / "skills/deploy/.kube/config", plant(text(12)))
        self.write(self.claude / "agents/a.md", f"---\nname: a\nmcpServers:\n  db:\n    env:\n      API_KEY: {plant(secret(32))}\n---\n")
        self.write(self.claude / "agents/b.md", "an agent\nexport DB_PASSWORD=hunter22\n")
        self.write(self.claude / "plugins/data/DATA.JSON", {"refresh_token": plant(secret(40)), "n": 1})
        self.write(self.claude / "notify.sh", f"#!/bin/sh\nSLACK_TOKEN={plant(text(30))} true\n")
        (self.claude / "skills" / "elsewhere").symlink_to(self.home / "dev/skill")
        (self.claude / "skills" / "keys").symlink_to(self.home / ".ssh")
        (self.claude / "skills" / "tidy2").symlink_to("tidy")
        self.write(self.home / ".ssh/id_rsa", plant(text(40)))
        self.write(self.home / "dev/skill/SKILL.md", plant(text(40)))
        return ["plugins/marketplaces/corp/.git", "plugins/marketplaces/corp/one/.env", "plugins/marketplaces/corp/one/hooks/hook.sh",
                "mcpServers.db.env.DB_PASS", "mcpServers.db.headers.X-Corp", "skills/deploy/deploy.py", "notify.sh", "plugins/known.json",
                "skills/deploy/run.py", "skills/deploy/nul.md", "skills/deploy/passwords.txt", "skills/deploy/.kube/config", "agents/a.md",
                "'agents/b.md' line 2 may contain a secret", "refresh_token"]

    def test_logins_in_permission_rules_in_any_spelling(self):
        plant = self.plant
        rules = [f"Bash(curl HTTPS://me:{plant(text(12))}@a.example.com/*)", f"Bash(curl https%3A%2F%2Fme%3A{plant(text(12))}%40a.example.com *)",
                 f"Bash(git clone https:%2F%2Fme:{plant(text(12))}@a.example.com/x:*)", f"WebFetch(https://me%3A{plant(text(12))}@a.example.com)",
                 f"Bash(wget -q Ftp://me:{plant(text(12))}%40a.example.com && ls)", f"Bash(curl https://me:${{PW:-{plant(text(12))}}}@a.example.com)",
                 f"Bash(curl -H 'X-Api-Key: ${{API_KEY:-{plant(text(12))}}}' *)"]
        self.write(self.claude / "settings.json", {"permissions": {"allow": ["Bash(ls:*)", *rules], "deny": [rules[0]]},
                                                   "hooks": {"Stop": [{"hooks": [{"type": "http", "url": "https://a.example.com/", "headers": {
                                                       "X-Api-Key": "${API_KEY:-" + plant(text(12)) + "}", "X-Other": "${OTHER}"}}]}]}})
        said = self.start()
        for i in range(len(rules)):
            self.assertIn(f"'permissions.allow[{i + 1}]'", said)
        settings = json.loads(self.box("cat ~/.claude/settings.json"))
        self.assertEqual(settings["permissions"]["allow"], ["Bash(ls:*)"])
        self.assertEqual(settings["hooks"]["Stop"][0]["hooks"][0]["headers"], {"X-Other": "${OTHER}"})

    def test_plugins_skills_and_hooks(self):
        names = self.plugin()
        said = self.start()
        for name in names:
            self.assertIn(name, said)
        corp = "~/.claude/plugins/marketplaces/corp"
        out = self.box(f"cd {corp} && ls -A . one one/hooks; cat one/skills/s/SKILL.md two/commands/c.md two/node_modules/p/test/key.pem "
                       "~/.claude/skills/tidy2/SKILL.md one/hooks/clean.sh; ls -A ~/.claude/skills ~/.claude/skills/deploy; "
                       "readlink ~/.claude/skills/elsewhere; cat one/.mcp.json ~/.claude/plugins/known.json")
        self.assertEqual(out[:out.index("{")].split("\n"), [
            ".:", "one", "two", "", "one:", ".mcp.json", "hooks", "skills", "", "one/hooks:", "clean.sh",
            "a skill", "a command", "a key for tests", "tidy", "#!/bin/sh", "echo clean",
            f"{self.claude}/skills:", "deploy", "elsewhere", "keys", "tidy", "tidy2", "", f"{self.claude}/skills/deploy:", ".kube",
            f"{self.home}/dev/skill", ""])
        self.assertIn('"MODE": "ro"', out)
        self.assertIn('"https://github.com/a/b"', out)

    def test_a_directory_with_secrets_is_read_only_and_stays_as_it_was(self):
        """A cover would vanish when a host program replaces the file below it; a new entry would appear in a mounted directory."""
        self.plugin()
        one = self.claude / "plugins/marketplaces/corp/one"
        script = ("import os, sys\nsys.stdin.readline()\nos.chdir(os.path.expanduser('~/.claude/plugins/marketplaces/corp'))\n"
                  "print(sorted(os.listdir('.')), sorted(os.listdir('one')), flush=True)\nsys.stdin.readline()\n"
                  "print(sorted(os.listdir('.')), sorted(os.listdir('one')))\n"
                  "for path in ('x', 'one/x', 'one/.env'):\n"
                  "    try:\n        open(path, 'w')\n    except OSError as error:\n        print(error.errno)\n")
        with subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "python3", "-c", script], cwd=self.project, env=self.env, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
            running.stdin.write("\n")
            running.stdin.flush()
            before = running.stdout.readline()
            new = self.write(one / "new", "x")
            new.rename(one / ".env")
            self.write(one.parent / ".netrc", "x")
            out, _ = running.communicate("\n", timeout=30)
        self.assertEqual(before, "['one', 'two'] ['.mcp.json', 'hooks', 'skills']\n")
        self.assertEqual(out, before + "30\n30\n30\n")

    def test_audit_and_plan(self):
        self.plugin()
        plan = self.plan()
        mounts = {mount["path"]: mount for mount in plan["mounts"]}
        place = "/run/claudebox/claude/plugins"
        self.assertEqual((mounts[place]["kind"], mounts[place]["host"]), ("directory", str(self.claude / "plugins")))
        self.assertEqual(mounts[f"{place}/marketplaces/corp/two"]["kind"], "read-only")
        self.assertEqual(mounts[f"{place}/marketplaces/corp/one/.mcp.json"]["kind"], "generated")
        self.assertNotIn(f"{place}/marketplaces/corp/.git", mounts)
        self.assertFalse([path for path in mounts if "deploy.py" in path or "notify.sh" in path])
        script = self.claudebox("--dry-run").stdout
        for value in self.planted:
            self.assertNotIn(value, json.dumps(plan) + script)

    def test_a_socket_does_not_come_along(self):
        self.write(self.claude / "plugins/p/a.md", "x\n")
        place = self.claude / "plugins/p/s"
        os.chdir(place.parent)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("s")
        os.chdir("/")
        self.addCleanup(listener.close)
        self.assertEqual(self.box("ls -A ~/.claude/plugins/p"), "a.md\n")

    def test_harmless_directories_are_mounted_as_a_whole(self):
        for name in ("plugins/p/a.md", "skills/s/SKILL.md", "commands/c.md"):
            self.write(self.claude / name, "Use `API_KEY=your-api-key`; see https://github.com/a/b.\n")
        self.write(self.claude / "CLAUDE.md", f"one\nlogin with {token()}\ntwo\nDB_PASSWORD={secret(16)}\n")
        plan = self.plan()
        mounts = {mount["path"]: mount["kind"] for mount in plan["mounts"] if mount["path"].startswith("/run/claudebox/claude/")}
        self.assertEqual(mounts, {f"/run/claudebox/claude/{name}": "read-only" for name in ("CLAUDE.md", "plugins", "skills", "commands")})
        self.assertIn("your CLAUDE.md contains something like a secret in line 2, 4, and the agent can read it", plan["warnings"])

    def test_a_directory_with_too_many_entries_is_left_out(self):
        for number in range(500):
            self.write(self.claude / "skills" / str(number), "x\n")
        self.write(self.claude / "skills/.env", "X=" + self.plant(text(20)))
        self.write(self.claude / "commands/c.md", "x\n")
        self.assertIn("'skills' is left out", self.start())
        self.assertEqual(self.box("ls ~/.claude/skills 2>&1; cat ~/.claude/commands/c.md").split(":")[-1].strip().split("\n")[-1], "x")

    def test_company_policy(self):
        plant = self.plant
        policy = {"env": {"FROM_POLICY": "yes", "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer " + plant(text(40))},
                  "apiKeyHelper": "echo " + plant(text(30)),
                  "permissions": {"deny": ["WebFetch", f"Bash(curl -ubob:{plant(text(12))} *)"]}}
        host = OtherHost(self, {
            "/etc/claude-code/managed-settings.json": json.dumps(policy),
            "/etc/claude-code/managed-settings.d/10-more.json": json.dumps({"env": {"MORE": "yes"}}),
            "/etc/claude-code/managed-settings.d/20-key.json": json.dumps({"env": {"CORP_API_KEY": plant(text(32))}, "a": 1}),
            "/etc/claude-code/managed-mcp.json": json.dumps({"mcpServers": {"corp": {"type": "http", "url": "https://mcp.example",
                                                                                     "headers": {"Authorization": "Bearer " + plant(text(40))}}}}),
            "/etc/claude-code/CLAUDE.md": f"be polite\nuse {plant(token())}\nbe brief\nDB_PASSWORD={plant(secret(16))}\n"})
        said = self.start(SEARCH + "for name in ('managed-settings.json', 'managed-settings.d/10-more.json', 'managed-settings.d/20-key.json', "
                          "'managed-mcp.json', 'CLAUDE.md'):\n"
                          "    content = open('/etc/claude-code/' + name).read()\n"
                          "    assert content.startswith('be polite\\nbe brief\\n') if name == 'CLAUDE.md' else json.loads(content), content\n"
                          "assert json.load(open('/etc/claude-code/managed-settings.json'))['permissions'] == {'deny': ['WebFetch', 'Bash(curl -ubob:* *)']}\n",
                          run=host.claudebox)
        for name in ("env.OTEL_EXPORTER_OTLP_HEADERS", "20-key.json", "env.CORP_API_KEY", "mcpServers.corp.headers.Authorization", "line 2, 4",
                     "apiKeyHelper", "the secret in permissions.deny[1]"):
            self.assertIn(name, said)


del StateTest

if __name__ == "__main__":
    unittest.main()
