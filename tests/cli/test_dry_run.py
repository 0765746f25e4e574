# SPDX-License-Identifier: MIT
"""--dry-run prints a script for sh that starts the same box; it contains no secret and changes nothing on disk."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from lib.box import GIVEN, BoxTest, tree

# Describes the box from inside, without numbers that differ from start to start.
LOOK = r"""
echo "== environment"; cat /proc/self/environ | tr '\n\0' '|\n' | LC_ALL=C sort
echo "== mounts"; sed -E 's/^[0-9]+ [0-9]+ [0-9]+:[0-9]+ //; s/ (shared|master|propagate_from):[0-9]+//g' /proc/self/mountinfo
echo "== etc"; cd /etc; for f in $(find . -type f -not -path './ssl/*' -not -path './alternatives/*' -not -path './java*' -not -path './fonts/*' | sort); do
  echo "-- $f $(stat -c %a $f)"; cat $f; done; find . -type l -not -path './ssl/*' -not -path './alternatives/*' -not -path './java*' -not -path './fonts/*' \
  -exec sh -c 'echo "$1 -> $(readlink $1)"' sh {} \; | sort
echo "== home"; ls -A ~ ~/.claude/ | grep -av json; stat -c '%A %n' / /tmp /run /run/user/* /etc ~ ~/.claude /run/claudebox/*
echo "== who"; id; uname -n; umask; cd; pwd; grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status
"""


def without_copies(seen):
    """Removes the copies of git's configuration, which only a launch has."""
    return [line for line in seen.splitlines() if not re.search(r"/run/claudebox/git-(config|links)|/\.git/config ", line)]


class DryRun(BoxTest):
    def script(self, *arguments, cwd=None, env=None):
        done = self.claudebox("--dry-run", *arguments, cwd=cwd, env=env)
        self.assertEqual(done.returncode, 0, done.stderr[-400:])
        self.assertEqual(done.stderr, "")
        return done.stdout

    def paste(self, script, cwd=None, env=None, shell="dash"):
        path = self.scratch() / "script"
        path.write_bytes(os.fsencode(script))
        return subprocess.run([shell, str(path)], cwd=cwd or self.project, env={**self.env, **(env or {})}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="surrogateescape", check=False, timeout=30)

    def same(self, cwd=None, env=None, shell="dash", paste_env=None):
        """Runs the script and claudebox, and compares the two boxes from inside."""
        cwd = cwd or self.project
        self.maxDiff = None
        self.profile(home="none")
        self.box("true", cwd=cwd, env=env)
        pasted = self.paste(self.script("--exec", "sh", "-c", LOOK, cwd=cwd, env=env), cwd="/", env=paste_env if paste_env is not None else env,
                            shell=shell)
        launched = self.claudebox("--yes", "--exec", "sh", "-c", LOOK, cwd=cwd, env=env)
        self.assertEqual((pasted.returncode, pasted.stderr), (0, ""))
        self.assertEqual(launched.returncode, 0, launched.stderr)
        self.assertEqual(*(without_copies(done.stdout) for done in (pasted, launched)))
        self.assertIn("== who", launched.stdout)
        self.assertIn("\nCLAUDEBOX=1\n", launched.stdout)
        return launched.stdout

    def test_the_script_starts_the_same_box(self):
        self.same()

    def test_the_script_works_in_bash_too(self):
        self.same(shell="bash")

    def test_odd_project_paths(self):
        for name in ("with space", "quote'\"", "new\nline", "$(touch hit) `touch hit` $HOME", "back\\slash\\", "tab\t", "trailing\n",
                     "é\u202e", "-n", "!bang", "CLAUDEBOX_END", "a\nCLAUDEBOX_END\nb", "~", "*"):
            path = self.home / "odd" / name
            path.mkdir(parents=True)
            seen = self.same(cwd=path)
            self.assertIn(str(path).replace("\n", "|"), seen)
        self.assertEqual([str(p) for p in self.home.rglob("hit")], [])

    def test_a_path_that_is_not_utf_8(self):
        path = os.fsencode(self.home) + b"/odd-\xff\xfe"
        os.mkdir(path)
        self.same(cwd=os.fsdecode(path))

    def test_with_the_users_own_files_and_a_repository(self):
        claude = self.home / ".claude"
        for name in ("CLAUDE.md", "skills/s.md", "agents/a.md"):
            (claude / name).parent.mkdir(parents=True, exist_ok=True)
            (claude / name).write_text("x")
        top = self.repository(self.home / "repo", name="Ann \"'$x`\\")
        (top / "sub").mkdir()
        self.same(cwd=top / "sub")

    def test_protected_places_that_exist_are_read_only(self):
        self.assertNotIn("git's configuration", self.claudebox("--dry-run").stdout)
        self.repository(self.project)
        (self.project / ".vscode").mkdir()
        (self.project / ".vscode/tasks.json").write_text("{}\n")
        script = self.script("--exec", "sh", "-c", "for f in .git/config .git/hooks/x .vscode/x; do echo >$f || echo blocked; done; mv .git x || echo pinned; "
                             "echo x >.envrc; ls -A")
        for sentence in ("# claudebox watches the project, and moves files that programs outside would execute to quarantine",
                         "gives the box a copy of git's configuration to write"):
            self.assertIn(sentence, script)
        self.assertNotIn("git-config", script)
        before = (self.project / ".git/config").read_text()
        self.assertEqual(self.paste(script, cwd="/").stdout.split(), ["blocked"] * 3 + ["pinned", ".envrc", ".git", ".vscode", "file.txt"])
        self.assertEqual((self.project / ".git/config").read_text(), before)
        self.profile(project="read-only")
        self.assertNotIn("quarantine", self.claudebox("--dry-run").stdout)

    def test_the_header_names_mounts_that_claudebox_moves(self):
        self.assertNotIn("inside of another mount", self.claudebox("--dry-run").stdout)
        self.assertFalse([mount for mount in self.plan()["mounts"] if "staged" in mount and "created" not in mount])
        project = self.repository(self.home / "repo") / "sub"
        project.mkdir()
        script = self.claudebox("--dry-run", cwd=project).stdout
        self.assertIn("# claudebox moves a mount inside of another mount to its place", script)
        self.assertNotIn("/staged-", script)
        staged = [mount["path"] for mount in self.plan(cwd=project)["mounts"] if "staged" in mount and "created" not in mount]
        self.assertEqual(staged, [str(project), str(project.parent / ".git")])

    def test_the_home_of_the_script_is_empty(self):
        """The script can't make mount points in a kept home without following links."""
        self.box("echo kept >~/note; mkdir -p ~/.config; ln -s /etc ~/link")
        look = "ls ~; test -w ~ && findmnt -no FSTYPE ~; pwd; echo x >written"
        script = self.script("--exec", "sh", "-c", look)
        self.assertIn("# claudebox gives the box a home that is kept; the box of this script has an empty one", script)
        before = tree(pathlib.Path(self.plan()["instance"]) / "home")
        pasted = self.paste(script, cwd="/")
        self.assertEqual((pasted.stdout, pasted.stderr), (f"bin\nproject\ntmpfs\n{self.project}\n", ""))
        self.assertEqual((self.project / "written").read_text(), "x\n")
        self.assertEqual(tree(pathlib.Path(self.plan()["instance"]) / "home"), before)
        self.profile(home="none")
        self.assertNotIn("home that is kept", self.script())

    def test_odd_values(self):
        self.same(env={"EDITOR": "vi '$x' \"`id`\" \\ \n\t é \x1b[31m", "LC_ALL": "", "TZ": "-n", "VISUAL": "$(touch hit)"})

    def test_on_a_fresh_home_it_runs_without_claudebox(self):
        done = self.paste(self.script("--exec", "sh", "-c", "echo $CLAUDEBOX; ls -A ~/.claude/"))
        self.assertEqual(done.returncode, 0, done.stderr[-400:])
        self.assertTrue(done.stdout.startswith("1\n"))
        self.assertEqual((self.home / ".claudebox").stat().st_mode & 0o777, 0o700)

    def test_claude_itself(self):
        done = self.paste(self.script("-p", "a b", "$HOME", "'"))
        self.assertEqual(done.stdout, GIVEN + "<-p><a b><$HOME><'>\n")

    def test_exit_code(self):
        self.assertEqual(self.paste(self.script("--exec", "sh", "-c", "exit 23")).returncode, 23)

    def test_secrets_among_the_arguments(self):
        token = "ghp_" + "a1B2c3" * 6
        for words in (("--settings", json.dumps({"env": {"A": token}}), "-p", "x"), ("--append-system-prompt", f"tok {token}"), ("-p", f"my token {token}"),
                      ("--mcp-config", json.dumps({"mcpServers": {"a": {"command": "x", "args": [token]}}})), (f"--append-system-prompt=tok {token}",),
                      ("-p", "--", token), ("--exec", "echo", token), ("--exec", "echo", "--api-token", "Zq8vK2mLx93PqR")):
            with self.subTest(words=words):
                secret = "Zq8vK2mLx93PqR" if "--api-token" in words else token
                for output in ("--dry-run", "--dry-run=json", "--audit=full"):
                    done = self.claudebox(*(("--yes", output) if output == "--audit=full" else (output,)), *words)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertNotIn(secret, done.stderr + (done.stdout if output != "--audit=full" else ""))
                    if output == "--dry-run=json":
                        self.assertIn("********", json.loads(done.stdout)["command"])
                    if output == "--audit=full":
                        self.assertIn("the arguments contain something like a secret, and the agent can read it: ", " ".join(done.stderr.split()))
        self.assertEqual([row for row in self.plan("-p", "explain token and password handling")["warnings"] if "arguments" in row], [])

    def test_the_script_asks_for_a_secret_argument(self):
        token = "ghp_" + "a1B2c3" * 6
        script = self.script("--exec", "printf", "%s|", "--x", f"tok {token}")
        self.assertIn("#   CLAUDEBOX_WORD_4: --x\n", script)
        done = self.paste(script)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("CLAUDEBOX_WORD_4: set it: the script has no secret values", done.stderr)
        self.assertEqual(self.paste(script, env={"CLAUDEBOX_WORD_4": f"tok {token}"}).stdout, f"--x|tok {token}|")

    def test_secrets_stand_by_name(self):
        secrets = {"ANTHROPIC_API_KEY": "sk-ant-api03-canarycanarycanary", "CLAUDEBOX_EXTRA_ENV": "MY_TOKEN,PLAIN,WEIRD",
                   "MY_TOKEN": "canary-token", "PLAIN": "canary-plain", "WEIRD": "canary\"$x`'\n"}
        for output in ("--dry-run", "--dry-run=json"):
            done = self.claudebox(output, env=secrets)
            self.assertEqual(done.returncode, 0)
            for name in ("ANTHROPIC_API_KEY", "MY_TOKEN"):
                self.assertNotIn(secrets[name], done.stdout + done.stderr)
                self.assertNotIn(secrets[name][4:-4], done.stdout)
        text = self.script(env=secrets)
        self.assertNotIn("canary", text)
        for name in ("ANTHROPIC_API_KEY", "MY_TOKEN", "PLAIN", "WEIRD"):
            self.assertIn(f'--setenv {name} "${name}"', text)
        self.same(env=secrets)

    def test_a_missing_secret_stops_the_script(self):
        """Also in an interactive shell, which does not end at an error."""
        self.profile("work", env={"MY_PASSWORD": "canary-hunter2"}, extra_env_passthrough=["PASSED"])
        text = self.script("--profile", "work", "--exec", "sh", "-c", "echo started", env={"PASSED": "x"})
        self.assertNotIn("canary", text)
        for shell in (("sh", "-s"), ("bash", "--norc", "-i")):
            for name, env in (("MY_PASSWORD", {"PASSED": "x"}), ("PASSED", {"MY_PASSWORD": "x"})):
                done = subprocess.run(shell, cwd=self.project, env={**self.env, **env}, input=text, capture_output=True, text=True,
                                      check=False, timeout=60)
                self.assertNotIn("started", done.stdout)
                self.assertRegex(done.stderr, f"{name}: set it")
            done = subprocess.run(shell, cwd=self.project, env={**self.env, "MY_PASSWORD": "x", "PASSED": ""}, input=text,
                                  capture_output=True, text=True, check=False, timeout=60)
            self.assertIn("started", done.stdout, done.stderr)

    def test_the_login_is_described(self):
        self.assertNotIn("login", self.script().split("mkdir")[0])
        (self.home / ".claude").mkdir()
        (self.home / ".claude/.credentials.json").write_text('{"claudeAiOauth": {"accessToken": "canary-token", "expiresAt": 1}}')
        text = self.script()
        self.assertRegex(text, rf"# claudebox copies the Claude login from {self.home}/.claude/.credentials.json")
        self.assertNotIn("canary", text)
        self.assertEqual(self.plan()["login"], f"{self.home}/.claude/.credentials.json")

    def test_secrets_of_other_shapes(self):
        """A variable of the allowlist whose value has the shape of a secret."""
        text = self.script(env={"EDITOR": "ghp_canarycanarycanarycanary", "VISUAL": "https://user:canary@example.org/"})
        self.assertNotIn("canary", text)

    def test_one_option_a_line(self):
        lines = self.script().splitlines()
        start = next(i for i, line in enumerate(lines) if line.endswith("bwrap \\"))
        for line in lines[start + 1:]:
            self.assertRegex(line, r"^  \S")
            if not line.endswith("\\"):
                break
            self.assertLessEqual(line.count(" --"), 1)

    def test_no_control_character_in_the_script(self):
        path = self.home / "p\x1b[31m\x07\x9b\u202e\x7f"
        path.mkdir()
        text = self.script(cwd=path, env={"EDITOR": "\x1b]0;x\x07", "LC_ALL": "\x08\x0d"})
        self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")

    def test_changes_nothing(self):
        (self.home / ".claude").mkdir()
        (self.home / ".claude/settings.json").write_text('{"model": "x"}')
        (self.home / ".claude/.credentials.json").write_text("{}")
        self.repository(self.project)
        before = tree(self.home)
        for output in ("--dry-run", "--dry-run=json"):
            self.assertEqual(self.claudebox(output).returncode, 0)
            self.assertEqual(self.claudebox(output, "--yes", "--exec", "true").returncode, 0)
        self.assertEqual(tree(self.home), before)
        self.box("true")
        before = tree(self.home)
        self.claudebox("--dry-run")
        self.assertEqual(tree(self.home), before)

    def test_no_sign_in_and_no_settings_in_it(self):
        (self.home / ".claude").mkdir()
        (self.home / ".claude/.credentials.json").write_text('{"claudeAiOauth": {"accessToken": "canary-token", "expiresAt": 1}}')
        (self.home / ".claude/settings.json").write_text('{"env": {"X_TOKEN": "canary-env"}}')
        (self.home / ".claude.json").write_text('{"oauthAccount": {"x": "canary-account"}}')
        for output in ("--dry-run", "--dry-run=json"):
            self.assertNotIn("canary", self.claudebox(output).stdout)

    def test_json_agrees_with_the_script(self):
        env = {"ANTHROPIC_API_KEY": "sk-ant-api03-canarycanarycanary", "CLAUDEBOX_EXTRA_ENV": "A", "A": "1"}
        plan = self.plan("-p", "x", env=env)
        words = self.script("-p", "x", env=env)
        for variable in plan["environment"]:
            self.assertIn(f"--setenv {variable['name']} ", words)
        flags = {"read-only": "--ro-bind", "read-write": "--bind", "tmpfs": "--tmpfs", "directory": "--dir", "link": "--symlink",
                 "generated": "--file", "proc": "--proc", "dev": "--dev", "sealed": "--remount-ro"}
        for mount in plan["mounts"]:
            flag = "--tmpfs" if mount["path"] == str(self.home) else flags[mount["kind"]]
            self.assertRegex(words, rf"(?m)^  {flag} .*{mount['path']}( |$)".replace("+", r"\+"))
        self.assertEqual(plan["project"], str(self.project))
        self.assertEqual(plan["command"][-3:], ['{"sandbox":{"enabled":false}}', "-p", "x"])
        self.assertEqual(plan["network"], "full")
        self.assertEqual(len(plan["environment"]), words.count("\n  --setenv "))
        masked = next(v for v in plan["environment"] if v["name"] == "ANTHROPIC_API_KEY")
        self.assertTrue(masked["secret"])

    def test_json_of_odd_values(self):
        path = os.fsencode(self.home) + b"/odd-\xff\n\""
        os.mkdir(path)
        plan = self.plan(cwd=os.fsdecode(path), env={"EDITOR": "\udcff\x1b", "LC_ALL": "\n"})
        self.assertIn("odd-", plan["project"])
        self.assertEqual(json.loads(json.dumps(plan)), plan)

    def test_no_box_is_made(self):
        hit = self.project / "hit"
        self.claudebox("--dry-run", "--exec", "touch", hit)
        self.assertFalse(pathlib.Path(hit).exists())


if __name__ == "__main__":
    unittest.main()
