# SPDX-License-Identifier: MIT
"""The instance: private state, the user's own Claude files (read-only), and the credentials that boxes and host share."""
import fcntl
import hashlib
import json
import os
import stat
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, BoxTest, tree

STORE = "/run/claudebox/sign-in/store/.credentials.json"
NOW = int(time.time() * 1000)


def credentials(name, hours=8, **more):
    return {"claudeAiOauth": {"accessToken": f"sk-ant-oat01-{name}-access", "refreshToken": f"sk-ant-ort01-{name}-refresh",
                              "expiresAt": NOW + hours * 3600 * 1000, "scopes": ["user:inference", "user:profile"],
                              "subscriptionType": "max"} | more}


class StateTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.claude = self.home / ".claude"
        self.root = self.home / ".claudebox"

    def instance(self, project=None):
        digest = hashlib.sha256(os.fsencode(project or self.project)).hexdigest()[:16]
        return self.root / "instances" / digest

    def write(self, path, content):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path


class Instance(StateTest):
    def test_two_projects_are_separate(self):
        other = self.home / "other"
        other.mkdir()
        self.box("mkdir -p ~/.claude/projects; echo mine >~/.claude/projects/x; echo h >~/.claude/history.jsonl")
        self.assertEqual(self.box("cat ~/.claude/projects/x ~/.claude/history.jsonl"), "mine\nh\n")
        self.assertEqual(self.box("ls ~/.claude/projects ~/.claude/history.jsonl 2>/dev/null", cwd=other), "")
        self.assertEqual(self.box("grep -rl mine ~ / --include=x 2>/dev/null", cwd=other), "")

    def test_the_claude_directory_is_in_the_instance(self):
        self.box("echo here >~/.claude/probe")
        self.assertEqual((self.instance() / "claude" / "probe").read_text(), "here\n")
        self.assertFalse((self.claude / "probe").exists())

    def test_the_hosts_claude_directory_is_never_visible(self):
        for name in ("projects/-home/x.jsonl", "history.jsonl", "todos/a.json", "file-history/x", "shell-snapshots/s", "debug/d",
                     "statsig/s", "backups/b", "paste-cache/p", "ide/1.lock", "session-env/e", ".mcp-auth/x"):
            self.write(self.claude / name, "canary-host")
        self.write(self.home / ".claude.json", {"mcpServers": {"x": {"env": {"TOKEN": "canary-host"}}}, "theme": "light",
                                                "projects": {"/x": {"history": ["canary-host"]}}, "userID": "canary-host",
                                                "primaryApiKey": "canary-host", "oauthAccount": {"emailAddress": "a@b.c"}})
        out = self.box("grep -rl canary-host ~ /run /etc /tmp 2>/dev/null; ls ~/.claude/projects ~/.claude/todos 2>/dev/null; "
                       "cat ~/.claude/.claude.json")
        self.assertNotIn("canary", out)
        account = json.loads(out)
        self.assertEqual((account["theme"], account.get("oauthAccount")), ("light", None))

    def test_first_run_questions_are_answered(self):
        account = json.loads(self.box("cat ~/.claude/.claude.json"))
        self.assertTrue(account["hasCompletedOnboarding"])
        self.assertTrue(account["projects"][str(self.project)]["hasTrustDialogAccepted"])
        self.assertTrue(json.loads(self.box("cat ~/.claude/settings.json"))["skipDangerousModePermissionPrompt"])

    def test_the_api_key_is_approved_by_its_last_characters(self):
        """Only for claude itself, only if the key is much longer, and only as long as it is passed."""
        self.env["CLAUDEBOX_CLAUDE"] = str(self.fake_claude("cat ~/.claude/.claude.json"))
        key = "sk-ant-api03-" + "x" * 40
        tails = ["ABCDEFGHIJKLMNOPQRST", "BCDEFGHIJKLMNOPQRSTU"]

        def approved(api_key, *command):
            done = self.claudebox("--yes", *command, env={"ANTHROPIC_API_KEY": api_key} if api_key else {})
            self.assertEqual("Claude asks whether to use it" in done.stderr, bool(api_key) and len(api_key) < 40 and not command)
            return json.loads(done.stdout).get("customApiKeyResponses", {}).get("approved")

        look = ("--exec", "sh", "-c", "cat ~/.claude/.claude.json")
        self.assertIsNone(approved(key + tails[0], *look))
        self.assertIsNone(approved("a-short-key"))
        for tail in tails:
            self.assertEqual(approved(key + tail), [tail])
        self.assertEqual(approved(key + tails[1], *look), [tails[1]])
        self.assertEqual(approved(None, *look), [])

    def test_data_written_by_claude_is_kept(self):
        self.box("true")
        path = self.instance() / "claude" / ".claude.json"
        account = json.loads(path.read_text()) | {"numStartups": 17, "projects": {"/x": {"y": 1}}}
        path.write_text(json.dumps(account))
        after = json.loads(self.box("cat ~/.claude/.claude.json"))
        self.assertEqual((after["numStartups"], after["projects"]["/x"]), (17, {"y": 1}))

    def test_modes_are_private_with_any_umask(self):
        self.write(self.claude / ".credentials.json", credentials("host"))
        subprocess.run(["sh", "-c", 'umask 0; "$0" --yes --exec true 2>/dev/null', CLAUDEBOX], cwd=self.project, env=self.env,
                       stdin=subprocess.DEVNULL, check=True, timeout=20)
        for path in (self.root, *self.root.rglob("*")):
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode):
                self.assertEqual(stat.S_IMODE(mode), 0o700 if stat.S_ISDIR(mode) else 0o600, path)

    def test_an_invalid_file_is_kept_and_replaced(self):
        self.box("true")
        for name in (".claude.json", "settings.json"):
            path = self.instance() / "claude" / name
            for broken in ("", "{", "[]", "null", "\xff\xfe"):
                path.write_text(broken)
                self.box("true")
                self.assertIsInstance(json.loads(path.read_text()), dict)
                self.assertEqual(path.with_name(f"{name}.broken").read_text(), broken)

    def test_settings_that_the_box_spoiled_do_not_switch_off_those_of_the_host(self):
        """Also if they are longer than the host's may be."""
        rules = {"permissions": {"deny": ["Read(x)"]}}
        self.write(self.claude / "settings.json", json.dumps(rules))
        for script in ("printf '{'", "printf '{\"a\":%.0s' $(seq 300000)", "yes '{\"a\":' | head -n 1000000"):
            self.box(f"{script} >~/.claude/settings.json")
            done = self.claudebox("--yes", "--exec", "cat", f"{self.home}/.claude/settings.json")
            self.assertEqual(json.loads(done.stdout)["permissions"], rules["permissions"])
            self.assertIn("'~/.claude/settings.json' of the box was not valid JSON: it is kept as 'settings.json.broken'",
                          " ".join(done.stderr.split()))
            self.assertNotIn("not valid JSON", self.claudebox("--yes", "--exec", "true").stderr)

    def test_the_record_names_the_project(self):
        self.box("true")
        self.assertEqual(json.loads((self.instance() / "instance.json").read_text())["root"], str(self.project))
        self.assertEqual(self.box(f"ls {self.root} {self.instance()} 2>/dev/null"), "")

    def test_sessions_of_two_boxes_are_separate(self):
        self.box("echo x >~/.claude/sessions/2.json")
        self.assertEqual(self.box("ls ~/.claude/sessions/"), "")


class UserFiles(StateTest):
    NAMES = ("CLAUDE.md", "rules/a.md", "skills/s/SKILL.md", "commands/c.md", "agents/a.md", "plugins/p/plugin.json", "output-styles/o.md")

    def setUp(self):
        super().setUp()
        for name in self.NAMES:
            self.write(self.claude / name, f"host {name}\n")

    def test_the_users_files_are_visible(self):
        out = self.box('cd ~/.claude && for f; do cat "$f"; done', *self.NAMES)
        self.assertEqual(out, "".join(f"host {name}\n" for name in self.NAMES))

    def test_the_box_cannot_change_the_hosts_copies(self):
        before = tree(self.claude)
        self.box('cd ~/.claude; for f; do echo evil >>"$f"; rm -rf "$f"; echo evil >"$f"; mkdir -p "${f%/*}"; echo evil >"${f%/*}/evil"; done; '
                 "cd /run/claudebox/claude; rm -rf *; echo evil >CLAUDE.md; mv CLAUDE.md x; chmod 777 . *; "
                 "rm -f ~/.claude/CLAUDE.md; echo evil >~/.claude/CLAUDE.md; :", *self.NAMES)
        self.assertEqual(tree(self.claude), before)
        # The next box sees the file of the host again.
        self.assertEqual(self.box("cat ~/.claude/CLAUDE.md"), "host CLAUDE.md\n")

    def test_a_change_on_the_host_is_seen_at_the_next_start(self):
        self.box("true")
        (self.claude / "CLAUDE.md").unlink()
        (self.claude / "CLAUDE.md").write_text("new\n")
        (self.claude / "rules" / "a.md").unlink()
        (self.claude / "rules").rmdir()
        self.assertEqual(self.box("cat ~/.claude/CLAUDE.md; ls -d ~/.claude/rules 2>/dev/null"), "new\n")
        self.assertFalse((self.instance() / "claude" / "rules").is_symlink())

    def test_a_link_to_a_secret_is_not_followed(self):
        self.write(self.home / ".ssh" / "id_rsa", "canary-key")
        for target in (self.home / ".ssh", self.home / ".ssh" / "id_rsa", self.home, "/"):
            link = self.claude / "hooks"
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            done = self.claudebox("--yes", "--exec", "sh", "-c", "cat ~/.claude/hooks ~/.claude/hooks/id_rsa ~/.claude/hooks/.ssh/id_rsa; "
                                  "ls ~/.claude/hooks/")
            self.assertNotIn("canary", done.stdout)
            self.assertNotIn("id_rsa", done.stdout)
            self.assertNotIn("this is a bug in claudebox", done.stderr)

    def test_claude_config_dir_of_the_host(self):
        elsewhere = self.home / "claude config"
        self.claude.rename(elsewhere)
        self.assertEqual(self.box("cat ~/.claude/CLAUDE.md; echo $CLAUDE_CONFIG_DIR", env={"CLAUDE_CONFIG_DIR": str(elsewhere)}),
                         f"host CLAUDE.md\n{self.claude}\n")


class Settings(StateTest):
    def inside(self, **options):
        return json.loads(self.box("cat ~/.claude/settings.json", **options))

    def test_settings_are_copied_without_secrets(self):
        self.write(self.claude / "settings.json", {
            "model": "opus", "apiKeyHelper": "/x/canary", "awsAuthRefresh": "canary", "otelHeadersHelper": "canary",
            "env": {"GITHUB_TOKEN": "canary", "DISABLE_TELEMETRY": "1", "URL": "https://u:canary@h/", "PATH": "/canary", "LD_PRELOAD": "/canary",
                    "CLAUDE_CONFIG_DIR": "/canary", "KEY2": "canary", "X": "ghp_canarycanarycanarycanary"},
            "permissions": {"allow": ["Bash(ls)"]}, "statusLine": {"type": "command", "command": "/home/canary/line.sh"},
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/canary/hook"}, {"type": "command", "command": "cat"}]}]}})
        seen = self.inside()
        self.assertNotIn("canary", json.dumps(seen))
        self.assertEqual((seen["model"], seen["env"], seen["permissions"]), ("opus", {"DISABLE_TELEMETRY": "1"}, {"allow": ["Bash(ls)"]}))
        self.assertEqual(seen["hooks"]["Stop"][0]["hooks"], [{"type": "command", "command": "cat"}])
        self.assertNotIn("canary", (self.instance() / "settings-base.json").read_text())

    def test_omitted_settings_are_reported(self):
        self.write(self.claude / "settings.json", {"apiKeyHelper": "x", "env": {"A_TOKEN": "canary"}})
        said = self.claudebox("--yes", "--exec", "true").stderr
        self.assertIn("apiKeyHelper", said)
        self.assertIn("A_TOKEN", said)
        self.assertNotIn("canary", said)

    def test_changes_of_the_host_and_of_the_box_are_merged(self):
        self.write(self.claude / "settings.json", {"model": "one", "theme": "dark", "both": 1})
        self.assertEqual(self.inside()["model"], "one")
        path = self.instance() / "claude" / "settings.json"
        mine = json.loads(path.read_text()) | {"theme": "light", "own": True}
        del mine["both"]
        path.write_text(json.dumps(mine))
        self.write(self.claude / "settings.json", {"model": "two", "theme": "dark", "both": 1, "new": 3})
        seen = self.inside()
        self.assertEqual((seen["model"], seen["theme"], seen["own"], seen["new"], seen.get("both")), ("two", "light", True, 3, None))
        self.write(self.claude / "settings.json", {"theme": "dark"})
        seen = self.inside()
        self.assertEqual((seen.get("model"), seen["theme"], seen["own"]), (None, "light", True))

    def test_the_box_cannot_change_the_hosts_settings(self):
        self.write(self.claude / "settings.json", {"model": "one"})
        before = (self.claude / "settings.json").read_bytes()
        self.box('echo "{\\"hooks\\":{\\"x\\":1}}" >~/.claude/settings.json; echo {} >~/.claude/settings.local.json')
        self.box("true")
        self.assertEqual((self.claude / "settings.json").read_bytes(), before)
        self.assertFalse((self.claude / "settings.local.json").exists())

    def test_invalid_settings_of_the_host_do_not_prevent_a_start(self):
        for text in ("{", "", "[]", '{"env": 3, "hooks": [], "statusLine": "x"}', '{"hooks": {"A": [1, {"hooks": [2, {"command": 4}]}]}}',
                     "[" * 5000, '{"env": {"A": {"B": 1}}}'):
            self.write(self.claude / "settings.json", text)
            self.assertEqual(self.box("echo up"), "up\n", text[:40])

    def test_secrets_in_the_project_are_reported(self):
        self.write(self.project / ".mcp.json", {"mcpServers": {"db": {"command": "x", "env": {"DB_PASSWORD": "canary", "PORT": "1"},
                                                                     "headers": {"Authorization": "Bearer x", "X-TOKEN": "canary"}}}})
        self.write(self.project / ".claude/settings.local.json", {"env": {"STRIPE": "sk_" + "live_canary51HbQk29XvLmPq7RtYzW3"}})
        self.write(self.project / "CLAUDE.md", "one\ntwo\nuse gh" + "p_canary7Qk29XvLmPq7RtYzW3bN5cY8wL2pD4\n")
        self.write(self.project / ".env", "X=1")
        self.write(self.project / "deploy" / "id_rsa", "x")
        self.write(self.project / ".env.example", "X=1")
        said = self.claudebox("--yes", "--exec", "true").stderr
        for name in ("DB_PASSWORD", "STRIPE", "CLAUDE.md:\\ line\\ 3", ".env", "deploy/id_rsa"):
            self.assertIn(name, said)
        self.assertNotIn("canary", said)
        self.assertNotIn("PORT", said)
        self.assertNotIn(".env.example", said)

    def test_a_project_npmrc_counts_only_with_a_login(self):
        for name, text in (("exact", "save-exact=true\n"), ("variable", "//r.example/:_authToken=${NPM_TOKEN}\n"),
                           ("token", "save-exact=true\n//r.example/:_authToken=hunter2\n"), ("binary", "save-exact=true\n\0"),
                           ("long", "#" * 70000)):
            (self.project / name).mkdir()
            (self.project / name / ".npmrc").write_text(text)
        said = " ".join(self.claudebox("--yes", "--exec", "true").stderr.split())
        self.assertRegex(said, r"files in the project that look like secrets: binary/\.npmrc, long/\.npmrc, token/\.npmrc( |$)")
        self.assertNotIn("hunter2", said)


class Planted(StateTest):
    """The box can create any file in its own directories. The next start must not write or read through it."""

    def setUp(self):
        super().setUp()
        self.victims = self.home / "victims"
        self.victims.mkdir()
        self.write(self.victims / "file", '{"victim": true}')
        (self.victims / "directory").mkdir()
        self.write(self.claude / "CLAUDE.md", "host\n")
        self.write(self.claude / "settings.json", {"model": "x"})
        self.write(self.claude / ".credentials.json", credentials("host"))
        self.box("true")
        self.before = tree(self.victims)

    def harmless(self):
        for _ in range(2):
            done = self.claudebox("--yes", "--exec", "true")
            self.assertEqual(done.returncode, 0, done.stderr[-400:])
        self.assertEqual(tree(self.victims), self.before)

    def plant(self, place, target):
        self.box(f'rm -rf {place}; ln -s "$1" {place}', str(target))

    def test_links_in_place_of_files(self):
        for name in (".claude.json", "settings.json", ".claude.json.broken", "CLAUDE.md", ".credentials.json", "sessions", "rules"):
            for target in (self.victims / "file", self.victims / "directory", self.victims / "new", "/oldroot" + str(self.victims / "file")):
                self.plant(f"~/.claude/{name}", target)
                self.harmless()

    def test_a_file_that_cannot_be_read_is_kept(self):
        for name in (".claude.json", "settings.json"):
            for spoil in (f"printf '{{\"mine\": \"a\\0b\"}}' >~/.claude/{name}", f"printf mine >~/.claude/{name}; truncate -s 70M ~/.claude/{name}",
                          f"printf '{{\"mine\": 1}}' >~/.claude/{name}; ln -f ~/.claude/{name} ~/.claude/second"):
                with self.subTest(name=name, spoil=spoil):
                    self.box(f"rm -rf ~/.claude/second ~/.claude/{name}.broken; {spoil}")
                    done = self.claudebox("--yes", "--exec", "sh", "-c", f"cat ~/.claude/{name}; head -c 9 ~/.claude/{name}.broken >&2")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertNotIn("mine", done.stdout)
                    self.assertIn("mine", done.stderr)
                    self.assertIn(f"'~/.claude/{name}' of the box was too large, no text or a hard link: it is kept as '{name}.broken'",
                                  " ".join(done.stderr.split()))

    def test_an_invalid_file_is_not_moved_through_a_link(self):
        self.box(f'echo "{{" >~/.claude/.claude.json; ln -sfn {self.victims}/directory ~/.claude/.claude.json.broken')
        self.harmless()

    def test_directories_in_place_of_files(self):
        """They are moved aside: a box cannot prevent the next start in its project."""
        for name in (".claude.json", "settings.json"):
            self.box(f"rm -f ~/.claude/{name}; mkdir -p ~/.claude/{name}/x")
            self.harmless()

    def test_fifos_and_huge_files_do_not_block(self):
        started = time.monotonic()
        self.box("rm -f ~/.claude/.claude.json ~/.claude/settings.json; mkfifo ~/.claude/.claude.json; truncate -s 1T ~/.claude/settings.json; "
                 f"rm -f {STORE}; mkfifo {STORE}")
        self.harmless()
        self.assertLess(time.monotonic() - started, 5)

    def test_temporary_names_are_not_followed(self):
        """The name of a temporary file contains the process id, which a box can guess."""
        claude = self.instance() / "claude"
        for target in (self.victims / "new", self.victims / "file", self.victims / "directory"):
            (claude / ".claude.json").unlink()
            script = 'for d; do for f in .claude.json settings.json .credentials.json; do ln -s "$T" "$d/.claudebox-$$-$f"; done; done; exec "$B" --yes --exec true'
            done = subprocess.run(["sh", "-c", script, "sh", claude, self.store_directory()], cwd=self.project, stdin=subprocess.DEVNULL,
                                  env={**self.env, "T": str(target), "B": CLAUDEBOX}, capture_output=True, text=True, check=False, timeout=20)
            self.assertEqual(done.returncode, 0, done.stderr[-400:])
            self.assertTrue((claude / ".claude.json").is_file() and not (claude / ".claude.json").is_symlink())
            self.assertEqual(tree(self.victims), self.before)

    def store_directory(self):
        return self.root / "sign-in" / "store"

    def test_a_link_in_place_of_the_credentials_directory(self):
        for target in (self.victims / "directory", self.victims / "file", "/tmp", self.victims / "new"):
            self.box('rm -rf /run/claudebox/sign-in/store; ln -s "$1" /run/claudebox/sign-in/store', str(target))
            self.harmless()
            self.assertTrue((self.root / "sign-in/store").is_dir() and not (self.root / "sign-in/store").is_symlink())

    def test_the_credentials_directory_replaced_while_the_box_runs(self):
        self.box('cd /run/claudebox/sign-in; mv store old; ln -s "$1" store; sleep 0.2; rm store; ln -s "$2" store; sleep 0.2', 
                 str(self.victims / "directory"), str(self.victims / "file"))
        self.assertEqual(tree(self.victims), self.before)
        self.harmless()

    def test_a_link_in_place_of_the_credentials_file(self):
        self.write(self.victims / "creds", credentials("victim", hours=20))
        self.before = tree(self.victims)
        for target in (self.victims / "file", self.victims / "creds", self.victims / "new"):
            self.plant(STORE, target)
            self.harmless()
        self.assertEqual(json.loads((self.claude / ".credentials.json").read_text()), credentials("host"))

    def test_an_unreadable_credentials_directory_does_not_prevent_a_start(self):
        self.box("chmod 000 /run/claudebox/sign-in/store")
        self.harmless()

    def test_a_directory_in_place_of_the_credentials_file(self):
        self.box(f"rm -f {STORE}; mkdir -p {STORE}/x")
        self.harmless()

    # Each script runs in the shared directory of one box. None may prevent the start of a later box in another project.
    SHARED = (
        "rm -rf store; touch store; for i in '' $(seq 99); do touch store.own$i; done",
        "rm -rf store; mkfifo store; for i in '' $(seq 99); do mkdir store.own$i; done",
        "rm -rf store; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"store\")'",
        "rm store/.credentials.json; mkdir store/.credentials.json; for i in '' $(seq 99); do mkdir store/.credentials.json.own$i; done",
        "rm store/.credentials.json; chmod 500 store",
        "rm -rf store; chmod 500 .",
        "rm -rf store; mkdir -p store/x; chmod 0 store/x store .",
        "rm -f store/.credentials.json; truncate -s 1T store/.credentials.json; touch \"store/a\nb$(printf '\\033')[31m\"; mkfifo store/p",
        "setfacl -m u::-,d:u::-,d:o::rwx store 2>/dev/null; rm -f store/.credentials.json",
    )

    def test_the_shared_directory_never_prevents_a_start(self):
        other = self.home / "other"
        other.mkdir()
        shared = self.root / "sign-in"
        for script in self.SHARED:
            self.box(f"cd /run/claudebox/sign-in; {script}; :")
            done = self.claudebox("--yes", "--exec", "cat", STORE, cwd=other)
            self.assertEqual(done.returncode, 0, (script, done.stderr[-400:]))
            self.assertEqual(json.loads(done.stdout), credentials("host"), script)
            self.assertNotIn("\x1b", done.stderr)
            for path in (shared, shared / "store"):
                self.assertEqual(stat.S_IMODE(path.lstat().st_mode), 0o700, script)
        self.assertEqual(tree(self.victims), self.before)

    def test_default_access_control_lists_are_removed(self):
        """Such a list would give mode 0 to every file that Claude creates in the directory, in all boxes."""
        plant = ("import os, struct; entry = lambda kind: struct.pack('<HHI', kind, 0, 0xffffffff); "
                 "acl = struct.pack('<I', 2) + b''.join(map(entry, (1, 4, 32))); "
                 "[os.setxattr(place, 'system.posix_acl_default', acl) for place in "
                 "('/run/claudebox/sign-in', '/run/claudebox/sign-in/store', os.path.expanduser('~/.claude'))]; print('planted')")
        self.assertEqual(self.box('python3 -c "$1"', plant), "planted\n")
        out = self.box("for d in /run/claudebox/sign-in /run/claudebox/sign-in/store ~/.claude; do echo x >$d/new; stat -c %A $d/new; cat $d/new; done")
        self.assertEqual(out, "-rw-r--r--\nx\n" * 3)

    def test_locks_that_never_end_are_removed(self):
        """Claude locks by a directory whose time it renews. Content, or a time in the future, would keep the lock for ever."""
        later = int(time.time()) + 10 ** 7
        self.box(f"cd /run/claudebox/sign-in; mkdir -p store.lock store/.oauth_refresh.lock/x store/.old.lock store/.recent.lock; "
                 f"touch -d @{later} store.lock store/.oauth_refresh.lock; touch -d @1000 store/.old.lock; mkfifo store/.storage-write; ln -s / store/link; "
                 "touch store/kept; chmod 0 store/.oauth_refresh.lock")
        done = self.claudebox("--yes", "--exec", "sh", "-c", "cd /run/claudebox/sign-in; ls -A . store")
        self.assertEqual(done.stdout.split(), [".:", "store", "store:", ".credentials.json", ".recent.lock", "kept"])
        self.assertRegex(done.stderr, r"(?m)^claudebox: removed 3 unexpected entries from '.*/sign-in'")
        self.assertNotIn("removed", self.claudebox("--yes", "--exec", "true").stderr)
        self.assertIn("To finish: 1 removal", self.claudebox("--gc", "--dry-run").stdout)

    def test_a_shared_directory_with_too_many_entries_is_replaced(self):
        self.box("cd /run/claudebox/sign-in/store; touch $(seq 2000); mkdir .oauth_refresh.lock; touch -d @99999999999 .oauth_refresh.lock")
        done = self.claudebox("--yes", "--exec", "sh", "-c", "ls -A /run/claudebox/sign-in/store")
        self.assertEqual(done.stdout, ".credentials.json\n")
        self.assertRegex(done.stderr, r"(?m)^claudebox: replaced '.*/sign-in/store'")
        self.assertEqual(self.claudebox("--gc", "--yes").returncode, 0)
        self.assertEqual(os.listdir(self.root / "instances"), [self.instance().name])

    def test_a_box_that_changes_the_shared_directory_all_the_time(self):
        loop = "cd /run/claudebox/sign-in; echo up; while :; do rm -rf store; touch store; rm -f store; ln -s / store; rm store; mkdir -m 0 store; done"
        other = self.home / "other"
        other.mkdir()
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", loop], cwd=other, env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), b"up\n")
        for _ in range(8):
            self.assertEqual(self.box("echo up"), "up\n")
        self.assertEqual(tree(self.victims), self.before)

    def test_directories_in_place_of_the_names_that_keep_other_files(self):
        for name in (".claude.json", "settings.json"):
            self.box(f"cd ~/.claude; echo '{{' >{name}; mkdir -p {name}.broken/x; for i in '' $(seq 99); do mkdir {name}.broken.own$i; done; "
                     f"rm -f CLAUDE.md; mkdir -p CLAUDE.md/x; for i in '' $(seq 99); do touch CLAUDE.md.own$i; done; chmod 500 .")
            self.harmless()
            self.assertEqual(self.box("cat ~/.claude/CLAUDE.md"), "host\n")

    def test_temporary_files_of_killed_launches_are_removed(self):
        """claudebox writes to a temporary file, and SIGKILL can leave it. Only such files are removed, and only without their process."""
        ended = subprocess.Popen(["true"])
        ended.wait()
        instance = self.instance()
        (self.root / "packages").mkdir(exist_ok=True)
        places = (self.root, self.root / "packages", instance, instance / "claude", self.store_directory(), self.claude)
        for place in places:
            self.write(place / f".claudebox-{ended.pid}-version", "old")
            (place / f".claudebox-{ended.pid}-link").symlink_to(self.victims / "file")
            (place / f".claudebox-{ended.pid}-directory").mkdir()
            self.write(place / f".claudebox-{os.getpid()}-version", "in use")
            for name in (f".claudebox-{ended.pid}", ".claudebox--x", ".claudebox-0-x", ".claudebox-99999999999-x", ".claudebox-12x-y",
                         f"claudebox-{ended.pid}-x"):
                self.write(place / name, "not ours")
        locked = self.write(self.root / f".claudebox-{ended.pid}-locked", "in use")
        before = {place: set(os.listdir(place)) for place in places}
        with locked.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH)  # as by a process in another PID namespace
            self.box("true")
        for place in places:
            gone = before[place] - set(os.listdir(place))
            # The shared directory keeps no links and no old directories.
            self.assertEqual(gone - {f".claudebox-{ended.pid}-link"} if place == self.store_directory() else gone,
                             {f".claudebox-{ended.pid}-version"}, place)
        self.assertEqual(tree(self.victims), self.before)

    def test_links_in_place_of_the_directories_are_refused(self):
        instance = self.instance()
        for part in (instance / "claude", instance, instance.parent, self.root / "sign-in"):
            kept = part.with_name(part.name + ".kept")
            part.rename(kept)
            part.symlink_to(self.victims / "directory")
            self.refused()
            self.assertEqual(tree(self.victims), self.before)
            part.unlink()
            kept.rename(part)


class Credentials(StateTest):
    def setUp(self):
        super().setUp()
        self.file = self.claude / ".credentials.json"
        self.store = self.root / "sign-in/store/.credentials.json"

    def host(self):
        return json.loads(self.file.read_text())

    def shared(self):
        return json.loads(self.store.read_text())

    def until(self, condition, seconds=3.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if condition():
                    return
            except (OSError, json.JSONDecodeError):
                pass
            time.sleep(0.02)
        self.assertTrue(condition())

    def running(self):
        """Starts a box that executes commands; returns a function that runs one, and a function that ends the box."""
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", 'echo up; while read -r line; do eval "$line"; echo "done $?"; done'],
                                   cwd=self.project, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(process.stdout.readline(), "up\n")

        def run(line):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            out = ""
            while not (got := process.stdout.readline()).startswith("done "):
                self.assertNotEqual(got, "", "the box is gone")
                out += got
            return out

        def end():
            if process.poll() is None:
                process.stdin.close()
                process.wait(10)
            process.stdout.close()
        self.addCleanup(end)
        return run, end

    @staticmethod
    def write_command(content, by="rename"):
        """Returns a shell command that writes the credentials file in the box."""
        text = json.dumps(content) if not isinstance(content, str) else content
        quoted = text.replace("'", "'\\''")
        if by == "rename":
            return f"printf %s '{quoted}' >{STORE}.tmp && mv {STORE}.tmp {STORE}"
        return f"printf %s '{quoted}' >{STORE}"

    def test_the_box_has_the_credentials_of_the_host(self):
        self.write(self.file, credentials("host"))
        self.assertEqual(json.loads(self.box(f"cat {STORE}")), credentials("host"))
        self.assertEqual(json.loads(self.box("cat ~/.claude/.credentials.json")), credentials("host"))

    def test_only_the_claude_credentials_enter_the_box(self):
        self.write(self.file, credentials("host") | {"mcpOAuth": {"srv": {"accessToken": "canary-mcp"}}, "other": "canary-other",
                                                 "organizationUuid": "canary-org"})
        out = self.box(f"cat {STORE}; grep -rl canary ~ /run /etc /tmp 2>/dev/null")
        self.assertNotIn("canary", out)
        self.assertEqual(set(json.loads(out)), {"claudeAiOauth"})

    def test_a_refresh_in_the_box_reaches_the_host(self):
        for by in ("rename", "place"):
            self.write(self.file, credentials("host") | {"mcpOAuth": {"x": 1}})
            self.file.chmod(0o600)
            run, end = self.running()
            run(self.write_command(credentials(f"new-{by}", hours=9), by))
            self.until(lambda by=by: self.host()["claudeAiOauth"]["accessToken"] == f"sk-ant-oat01-new-{by}-access")
            self.assertEqual(self.host(), credentials(f"new-{by}", hours=9) | {"mcpOAuth": {"x": 1}})
            self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
            end()

    def test_a_refresh_just_before_the_end_reaches_the_host(self):
        self.write(self.file, credentials("host"))
        self.box(self.write_command(credentials("last", hours=9)))
        self.assertEqual(self.host(), credentials("last", hours=9))

    def test_a_refresh_on_the_host_reaches_the_box(self):
        self.write(self.file, credentials("host") | {"mcpOAuth": {"x": "canary-mcp"}})
        run, _ = self.running()
        new = self.claude / "new"
        self.write(new, credentials("renewed", hours=9) | {"mcpOAuth": {"x": "canary-mcp"}})
        new.rename(self.file)
        self.until(lambda: "renewed" in run(f"cat {STORE}; echo"))
        self.assertEqual(json.loads(run(f"cat {STORE}; echo")), credentials("renewed", hours=9))
        self.write(self.file, credentials("in-place", hours=10))
        self.until(lambda: "in-place" in run(f"cat {STORE}; echo"))

    def test_alternating_refreshes(self):
        self.write(self.file, credentials("start"))
        run, _ = self.running()
        for turn in range(4):
            run(self.write_command(credentials(f"box-{turn}", hours=9)))
            self.until(lambda turn=turn: f"box-{turn}-" in self.file.read_text())
            self.write(self.file, credentials(f"host-{turn}", hours=9))
            self.until(lambda turn=turn: f"host-{turn}-" in self.store.read_text())

    def test_boxes_of_two_projects_share_the_credentials(self):
        self.write(self.file, credentials("host"))
        run, _ = self.running()
        other = self.home / "other"
        other.mkdir()
        self.box(self.write_command(credentials("other", hours=9)), cwd=other)
        self.until(lambda: "other-access" in run(f"cat {STORE}; echo"))
        self.assertEqual(self.host(), credentials("other", hours=9))

    def test_invalid_credentials_never_reach_the_host(self):
        self.write(self.file, credentials("host") | {"mcpOAuth": {"x": 1}})
        before = self.file.read_bytes()
        good = credentials("evil", hours=9)["claudeAiOauth"]
        shapes = ("", "{", "[]", "null", '"x"', "x" * 2_000_000, json.dumps({"claudeAiOauth": []}), json.dumps({"claudeAiOauth": {}}),
                  *(json.dumps({"claudeAiOauth": good | change}) for change in (
                      {"accessToken": 1}, {"accessToken": ""}, {"accessToken": "a b" * 9}, {"accessToken": "x\ny" * 9},
                      {"accessToken": "x" * 9000}, {"refreshToken": ["x"]}, {"refreshToken": "\x1b[31mxxxxxxxx"}, {"expiresAt": "9"},
                      {"expiresAt": -1}, {"expiresAt": NOW * 1000}, {"expiresAt": 1.5}, {"scopes": "x"}, {"scopes": [["x"]]},
                      {"accessToken": "é" * 20}, {"scopes": ["x" * 200]}, {"scopes": ["x"] * 65})),
                  json.dumps({"claudeAiOauth": good})[:-2] + ',"accessToken":"sk-ant-oat01-dup-dup-dup"}}')
        run, end = self.running()
        for shape in shapes:
            if len(shape) > 100_000:
                run(f"head -c {len(shape)} /dev/zero | tr '\\0' x >{STORE}")
            else:
                run(self.write_command(shape))
        time.sleep(0.2)
        end()
        self.assertEqual(self.file.read_bytes(), before)
        self.box(self.write_command(shapes[10]))
        self.assertEqual(self.file.read_bytes(), before)

    def test_names_and_values_that_claude_does_not_use_stay_in_the_box(self):
        """A login can be spoiled by a box, but nothing else than a login reaches the host's file."""
        self.write(self.file, credentials("host") | {"mcpOAuth": {"x": 1.5}})
        names = ("\x1b]0;evil\x07", "a\nb", "__proto__", "constructor", "toJSON", "é", "", "x y", "../x", "\u202e")
        evil = credentials("new", hours=9, tier="max_20x", later=None)
        evil["claudeAiOauth"] |= {name: 1 for name in names} | {"nested": {"y": 1}, "list": [1], "text": "\x1b[2J", "long": "x" * 5000}
        run, _ = self.running()
        run(self.write_command(evil))
        self.until(lambda: "new-access" in self.file.read_text())
        self.assertEqual(self.host(), credentials("new", hours=9, tier="max_20x", later=None) | {"mcpOAuth": {"x": 1.5}})
        # 200 kB of names are longer than a command line.
        write = "import json, os; d = json.load(open(os.environ['S'])); c = d['claudeAiOauth']; c['n' * 200000] = 1; " \
                "c |= {f'k{i}': 1 for i in range(5000)}; c['accessToken'] += '-big'; c['expiresAt'] += 3600000; " \
                "json.dump(d, open(os.environ['S'] + '.tmp', 'w')); os.rename(os.environ['S'] + '.tmp', os.environ['S'])"
        run(f'S={STORE} python3 -c "{write}"')
        self.until(lambda: "-big" in self.file.read_text())
        self.assertLess(self.file.stat().st_size, 2000)
        self.assertLessEqual(len(self.host()["claudeAiOauth"]), 32)

    def test_only_the_claude_credentials_leave_the_box(self):
        self.write(self.file, credentials("host") | {"mcpOAuth": {"srv": {"accessToken": "keep"}}})
        self.box(self.write_command(credentials("new", hours=9) | {"mcpOAuth": {"srv": {"accessToken": "evil"}}, "evil": 1}))
        self.assertEqual(self.host(), credentials("new", hours=9) | {"mcpOAuth": {"srv": {"accessToken": "keep"}}})

    def test_the_box_cannot_create_other_files_on_the_host(self):
        self.write(self.file, credentials("host"))
        before = set(tree(self.claude))
        self.box(f"echo x >{os.path.dirname(STORE)}/evil; echo x >~/.claude/evil; echo x >/run/claudebox/sign-in/evil; mkdir ~/.claude/d")
        self.assertEqual(set(tree(self.claude)), before)

    def test_the_hosts_file_may_be_a_link(self):
        real = self.write(self.home / "dotfiles" / "creds.json", credentials("host"))
        self.claude.mkdir()
        self.file.symlink_to(real)
        self.box(self.write_command(credentials("new", hours=9)))
        self.assertTrue(self.file.is_symlink())
        self.assertEqual(json.loads(real.read_text()), credentials("new", hours=9))

    def test_a_link_that_a_box_can_change_is_not_followed(self):
        """Otherwise the agent of a project with dotfiles chooses the file that is read and replaced."""
        other = self.write(self.home / "other-account.json", credentials("other-account", hours=30))
        before = other.read_bytes()
        dotfiles = self.home / "dotfiles"
        dotfiles.mkdir()
        self.claude.mkdir()
        self.file.symlink_to(dotfiles / "creds.json")
        self.box(f"ln -sfn {other} creds.json", cwd=dotfiles)
        self.assertNotIn("other-account", self.box(f"cat {STORE} 2>/dev/null; true"))
        self.box(self.write_command(credentials("evil", hours=40)))
        self.assertEqual(other.read_bytes(), before)
        self.assertIn("can change the link", self.claudebox("--yes", "--exec", "true").stderr)

    def test_a_link_that_appears_while_the_box_runs_is_not_followed(self):
        other = self.write(self.home / "other-account.json", credentials("other-account", hours=30))
        before = other.read_bytes()
        self.write(self.file, credentials("host"))
        run, end = self.running()
        time.sleep(0.7)  # until the directories are watched
        self.file.unlink()
        self.file.symlink_to(other)
        run(self.write_command(credentials("evil", hours=40)))
        time.sleep(0.3)
        self.assertNotIn("other-account", run(f"cat {STORE}; echo"))
        end()
        self.assertEqual(other.read_bytes(), before)

    def test_a_directory_replaced_by_a_link_while_the_box_runs_is_not_followed(self):
        other = self.write(self.home / "other" / ".credentials.json", credentials("other-account", hours=30))
        before = tree(other.parent)
        self.write(self.file, credentials("host"))
        run, end = self.running()
        self.claude.rename(self.home / "kept")
        self.claude.symlink_to(other.parent)
        run(self.write_command(credentials("evil", hours=40)))
        end()
        self.assertEqual(tree(other.parent), before)
        self.assertNotIn("other-account", self.store.read_text())

    def test_a_hard_link_in_the_shared_directory_is_not_read(self):
        self.write(self.file, credentials("host"))
        self.box(f"{self.write_command(credentials('linked', hours=40))} && ln {STORE} {os.path.dirname(STORE)}/second; sleep 0.1")
        self.assertEqual(self.host(), credentials("host"))

    def test_a_hard_link_in_a_directory_that_a_box_writes_is_not_read(self):
        real = self.home / "dotfiles" / "creds.json"
        real.parent.mkdir()
        self.claude.mkdir()
        self.file.symlink_to(real)
        self.box("true", cwd=self.home / "dotfiles")
        other = self.write(self.home / "other-account.json", credentials("other-account", hours=30))
        os.link(other, real)
        self.assertNotIn("other-account", self.box(f"cat {STORE} 2>/dev/null; true"))
        other.unlink()
        self.assertIn("other-account", self.box(f"cat {STORE} 2>/dev/null; true"))  # a file with one name is the user's

    def test_deletion_in_the_box_does_not_reach_the_host(self):
        self.write(self.file, credentials("host"))
        before = self.file.read_bytes()
        self.box(f"rm -f {STORE}; sleep 0.1")
        self.assertEqual(self.file.read_bytes(), before)
        self.assertEqual(json.loads(self.box(f"cat {STORE}")), credentials("host"))

    def test_a_logout_on_the_host_reaches_the_boxes(self):
        self.write(self.file, credentials("host"))
        self.box("true")
        self.file.unlink()
        done = self.claudebox("--yes", "--exec", "sh", "-c", f"cat {STORE} 2>/dev/null; true")
        self.assertEqual(done.stdout, "")
        self.assertIn("you have logged out of Claude on this machine: your boxes are logged out as well", " ".join(done.stderr.split()))
        self.assertNotIn("logged out", self.claudebox("--yes", "--exec", "true").stderr)

    def test_a_logout_on_the_host_keeps_a_login_that_was_made_in_a_box(self):
        self.write(self.file, credentials("host"))
        self.box("true")
        self.file.unlink()
        self.box(self.write_command(credentials("login")))
        done = self.claudebox("--yes", "--exec", "cat", STORE)
        self.assertEqual(json.loads(done.stdout), credentials("login"))
        self.assertNotIn("logged out", done.stderr)

    def test_without_credentials_nothing_is_reported(self):
        for make in (lambda: None, self.claude.mkdir):
            make()
            done = self.claudebox("--yes", "--exec", "sh", "-c", f"ls {STORE} 2>/dev/null")
            self.assertEqual((done.stdout, done.returncode), ("", 2))
            self.assertNotRegex(done.stderr, r"(?mi)^(claudebox:|note:|hint:| *!) .*credentials")
            self.assertFalse(self.file.exists())

    def test_a_login_in_a_box_is_kept_for_all_projects(self):
        self.box(self.write_command(credentials("login")))
        other = self.home / "other"
        other.mkdir()
        for project in (self.project, other):
            self.assertEqual(json.loads(self.box("cat ~/.claude/.credentials.json", cwd=project)), credentials("login"))
        self.assertFalse(self.file.exists())

    def test_an_older_claude_replaces_the_link(self):
        """It writes a file in place of the link in ~/.claude. The login must not be lost."""
        self.box(f"rm ~/.claude/.credentials.json; printf %s '{json.dumps(credentials('login'))}' >~/.claude/.credentials.json")
        kept = [path.read_text() for path in (self.instance() / "claude").glob(".credentials.json*") if path.exists()]
        self.box("true")
        kept += [path.read_text() for path in (self.instance() / "claude").glob(".credentials.json*") if path.exists()]
        self.assertIn(json.dumps(credentials("login")), kept)


if __name__ == "__main__":
    unittest.main()
