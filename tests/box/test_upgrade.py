# SPDX-License-Identifier: MIT
"""Upgrades: the flat state of an earlier claudebox is taken over without loss; a state of a later version is refused."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest
import uuid

from lib.box import CLAUDEBOX, BoxTest, tree

AS_ROOT = True
NOW = int(time.time() * 1000)
CREDENTIALS = {"claudeAiOauth": {"accessToken": "sk-ant-oat01-flat-access", "refreshToken": "sk-ant-ort01-flat-refresh", "expiresAt": NOW + 3600000,
                                 "scopes": ["user:inference"]}, "mcpOAuth": {"x": {"accessToken": "canary-mcp"}}}


def slug(path):
    return re.sub(r"[^a-zA-Z0-9]", "-", str(path))


class FlatStateTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.root = self.home / ".claudebox"
        self.backup = self.root / "backup-flat"

    def instance(self, project):
        return self.root / "instances" / hashlib.sha256(os.fsencode(project)).hexdigest()[:16]

    def copy(self, project, number):
        """Returns the path of the copy of a conversation."""
        return self.instance(project) / "claude/projects" / slug(project) / f"{number}.jsonl"

    def conversation(self, cwd, text="hello", where=None):
        """Writes a conversation in the format of Claude Code, with its related files; returns its UUID."""
        number = str(uuid.uuid4())
        directory = self.root / "projects" / (where or slug(cwd))
        directory.mkdir(parents=True, exist_ok=True)
        lines = [{"type": "summary", "summary": "x", "leafUuid": "y"},
                 {"type": "user", "cwd": str(cwd) if cwd else None, "sessionId": number, "message": {"role": "user", "content": text}}]
        path = directory / f"{number}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        os.utime(path, (1700000000, 1700000000))
        for name in (f"todos/{number}-agent-{number}.json", f"file-history/{number}/a@v1", f"projects/{directory.name}/{number}/subagents/b.jsonl"):
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{name} {text}")
        return number

    def flat(self):
        """Creates a flat state without conversations; returns its tree."""
        self.root.mkdir(mode=0o700)
        for name, content in ((".claude.json", '{"numStartups": 7}'), (".credentials.json", json.dumps(CREDENTIALS)), ("settings.json", '{"model": "opus"}'),
                              ("history.jsonl", '{"display": "x"}\n'), ("CLAUDE.md", "old instructions"), ("commands/c.md", "c"), ("statsig/s", "s")):
            path = self.root / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        return tree(self.root)

    def start(self, status=0, cwd=None, **options):
        done = self.claudebox("--yes", "--exec", "true", cwd=cwd, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return " ".join(done.stderr.split())


class TakeOver(FlatStateTest):
    def test_everything_moves_and_conversations_are_copied(self):
        self.flat()
        other = self.home / "other"
        other.mkdir()
        mine = self.conversation(self.project)
        theirs = self.conversation(other)
        unknown = self.conversation("/nowhere/at/all")
        before = tree(self.root)
        said = self.start()
        self.assertIn("moves to ~/.claudebox/backup-flat", said)
        self.assertIn("2 of 3 conversations are also copied to their projects", said)
        self.assertIn("log in again", said)
        # The backup has all of the flat state, unchanged.
        self.assertEqual(tree(self.backup), before)
        for project, number in ((self.project, mine), (other, theirs)):
            path = self.copy(project, number)
            self.assertIn("hello", path.read_text())
            self.assertEqual(path.stat().st_mtime, 1700000000)
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            self.assertEqual(json.loads((self.instance(project) / "instance.json").read_text())["root"], str(project))
            self.assertEqual(os.listdir(path.parent), [path.name])
        self.assertFalse(list((self.root / "instances").rglob(f"{unknown}*")))
        self.assertEqual((self.root / "version").read_text(), "1\n")
        self.assertEqual(sorted(os.listdir(self.root)), ["backup-flat", "instances", "sign-in", "sign-in.lock", "version"])
        # The next start takes nothing over.
        self.assertNotIn("Upgrade", self.start())
        self.assertEqual(tree(self.backup), before)

    def test_the_box_sees_its_conversations_and_nothing_else(self):
        self.flat()
        number = self.conversation(self.project)
        out = self.box(f"cat ~/.claude/projects/{slug(self.project)}/{number}.jsonl; cat ~/.claude/.credentials.json ~/.claude/CLAUDE.md 2>&1; "
                       "cat ~/.claude/settings.json; ls ~/.claude/commands 2>&1")
        self.assertIn("hello", out)
        for text in ("flat-access", "canary-mcp", "old instructions", "opus", "c.md"):
            self.assertNotIn(text, out)

    def test_a_repository_and_its_worktrees(self):
        main = self.repository(self.home / "main")
        self.git("worktree", "add", "-q", "-b", "topic", self.home / "linked", cwd=main)
        (main / "sub").mkdir()
        self.flat()
        numbers = [self.conversation(place) for place in (main, self.home / "linked", main / "sub")]
        self.start(cwd=main)
        for place, number in zip((main, self.home / "linked", main / "sub"), numbers):
            self.assertTrue((self.instance(main) / "claude/projects" / slug(place) / f"{number}.jsonl").exists())
        self.assertEqual(len(os.listdir(self.root / "instances")), 1)

    def test_projects_with_the_same_directory_name_are_kept_apart(self):
        one = self.home / "a-b"
        two = self.home / "a" / "b"
        one.mkdir()
        two.mkdir(parents=True)
        self.assertEqual(slug(one), slug(two))
        self.flat()
        numbers = [self.conversation(place) for place in (one, two)]
        refused = self.conversation("/etc", where=slug(one))
        nameless = self.conversation(None, where=slug(one))
        self.start()
        for place, number in zip((one, two), numbers):
            self.assertEqual(os.listdir(self.copy(place, number).parent), [f"{number}.jsonl"])
        for number in (refused, nameless):
            self.assertFalse(list((self.root / "instances").rglob(f"{number}*")))

    def test_the_login_of_the_host_is_used(self):
        self.flat()
        (self.home / ".claude").mkdir()
        (self.home / ".claude" / ".credentials.json").write_text(json.dumps(CREDENTIALS).replace("flat", "host"))
        self.start()
        self.assertIn("host-access", self.box("cat ~/.claude/.credentials.json"))
        self.assertIn("host-access", (self.home / ".claude" / ".credentials.json").read_text())

    def test_a_flat_state_beside_the_current_layout(self):
        (self.root / "profiles").mkdir(parents=True)
        (self.root / "profiles" / "p.json").write_text("{}")
        self.root.chmod(0o700)
        (self.root / "profiles").chmod(0o700)
        self.box("mkdir -p ~/.claude/projects/x; echo new >~/.claude/projects/x/y")
        (self.root / "version").unlink()
        number = self.conversation(self.project)
        (self.root / ".claude.json").write_text("{}")
        kept = tree(self.root / "profiles")
        self.start()
        self.assertEqual((self.instance(self.project) / "claude/projects/x/y").read_text(), "new\n")
        self.assertTrue(self.copy(self.project, number).exists())
        self.assertEqual(tree(self.root / "profiles"), kept)

    def test_existing_conversations_are_not_replaced(self):
        self.flat()
        number = self.conversation(self.project)
        target = self.copy(self.project, number)
        target.parent.mkdir(parents=True)
        target.write_text("newer")
        self.start()
        self.assertEqual(target.read_text(), "newer")

    def test_dry_run_and_check_report_it_and_change_nothing(self):
        self.flat()
        self.conversation(self.project)
        before = tree(self.home)
        done = self.claudebox("--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# 1 of 1 conversations are also copied", done.stdout)
        self.assertEqual(subprocess.run(["sh", "-n"], input=done.stdout, text=True, check=False).returncode, 0)
        self.assertEqual(len(self.plan()["upgrade"]), 2)
        self.assertRegex(self.claudebox("--check").stdout, r"(?m)^ok +state .*earlier claudebox.*backup")
        self.refused("--prove")
        self.refused("--exec", "true")  # no terminal to ask on
        for arguments in (("--instances",), ("--gc", "--yes")):
            self.assertEqual(self.claudebox(*arguments).returncode, 0)
        self.assertEqual(tree(self.home), before)
        self.start()
        self.assertNotIn("upgrade", self.plan())

    def test_a_directory_without_claude_files_is_not_a_flat_state(self):
        self.root.mkdir(mode=0o700)
        (self.root / "settings.json").write_text("{}")
        (self.root / "notes").write_text("x")
        self.assertNotIn("Upgrade", self.start())
        self.assertEqual((self.root / "notes").read_text(), "x")


class Hostile(FlatStateTest):
    """A flat state with content that a box planted."""

    def test_links_are_not_followed(self):
        victim = self.home / "victim"
        victim.mkdir()
        (victim / f"{uuid.uuid4()}.jsonl").write_text(json.dumps({"cwd": str(self.project), "key": "canary-secret"}) + "\n")
        self.flat()
        self.conversation(self.project)
        directory = self.root / "projects" / slug(self.project)
        (directory / f"{uuid.uuid4()}.jsonl").symlink_to(next(victim.iterdir()))
        (directory.parent / "linked").symlink_to(victim)
        os.mkfifo(directory / f"{uuid.uuid4()}.jsonl")
        os.mkfifo(directory / "pipe")
        before = tree(victim)
        self.assertIn("1 of 3 conversations", self.start())
        self.assertEqual(tree(victim), before)
        self.assertFalse([path for path in (self.root / "instances").rglob("*") if path.is_symlink() and path.parent.name != "claude"])
        self.assertEqual(subprocess.run(["grep", "-r", "canary-secret", self.root / "instances"], check=False, stdout=subprocess.DEVNULL).returncode, 1)

    def test_a_link_in_place_of_projects_is_not_followed(self):
        self.flat()
        (self.home / "elsewhere" / slug(self.project)).mkdir(parents=True)
        (self.home / "elsewhere" / slug(self.project) / f"{uuid.uuid4()}.jsonl").write_text(json.dumps({"cwd": str(self.project)}))
        (self.root / "projects").symlink_to(self.home / "elsewhere")
        self.start()
        self.assertFalse((self.instance(self.project) / "claude/projects").exists())
        self.assertTrue((self.backup / "projects").is_symlink())

    def test_links_in_the_target_are_not_followed(self):
        for name in ("projects", f"projects/{slug(self.project)}"):
            shutil.rmtree(self.root, ignore_errors=True)
            self.flat()
            number = self.conversation(self.project)
            target = self.instance(self.project) / "claude" / name
            target.parent.mkdir(parents=True)
            (self.home / "victim").mkdir(exist_ok=True)
            target.symlink_to(self.home / "victim")
            self.start()
            self.assertEqual(os.listdir(self.home / "victim"), [])
            self.assertTrue(self.copy(self.project, number).exists())

    def test_a_directory_where_no_box_may_start(self):
        """A conversation can name any directory."""
        self.flat()
        for place in (self.home, "/", "/etc", self.home / ".ssh", f"{self.project}/../project", "relative"):
            pathlib.Path(self.home / ".ssh").mkdir(exist_ok=True)
            self.conversation(place)
        self.start()
        self.assertEqual(os.listdir(self.root / "instances"), [self.instance(self.project).name])

    def test_large_and_sparse_files_are_only_moved(self):
        self.flat()
        for size in (1 << 36, 1 << 20):
            number = self.conversation(self.project)
            with open(self.root / "projects" / slug(self.project) / f"{number}.jsonl", "ab") as file:
                file.truncate(size)
        kept = {path.name: path.stat().st_size for path in (self.root / "projects" / slug(self.project)).glob("*.jsonl")}
        self.start()
        self.assertEqual({path.name: path.stat().st_size for path in (self.backup / "projects" / slug(self.project)).glob("*.jsonl")}, kept)
        self.assertFalse(list((self.root / "instances").rglob("*.jsonl")))

    def test_long_names_are_only_moved(self):
        self.flat()
        self.conversation(self.project)
        name = "x" * 240 + ".jsonl"
        (self.root / "projects" / slug(self.project) / name).write_text(json.dumps({"cwd": str(self.project)}) + "\n")
        self.start()
        self.assertTrue((self.backup / "projects" / slug(self.project) / name).exists())


class Interrupted(FlatStateTest):
    def everything(self):
        """Returns names and contents of all files, in ~/.claudebox and in the backup."""
        seen = set()
        for place in (self.root, self.backup):
            if place.exists():
                seen |= {(name, content) for name, (_, content) in tree(place).items()}
        return seen

    def kill_at(self, call, step):
        """Runs claudebox under strace, which kills it at one system call; returns whether it was killed."""
        command = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={step}",
                   CLAUDEBOX, "--yes", "--exec", "true"]
        return subprocess.run(command, cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=60).returncode != 0

    def test_killed_at_any_step(self):
        """claudebox is killed at each system call that changes something, in each case in a new copy of the state."""
        self.flat()
        numbers = [self.conversation(self.project, text="x" * 100) for _ in range(2)]
        saved = self.home / "saved"
        shutil.copytree(self.root, saved, symlinks=True)
        before = {(name, content) for name, (_, content) in tree(self.root).items()}
        killed = 0
        for call in ("mkdirat", "renameat", "renameat2", "utimensat", "fsync"):
            for step in range(1, 100):
                shutil.rmtree(self.root)
                shutil.copytree(saved, self.root, symlinks=True)
                self.root.chmod(0o700)
                if not self.kill_at(call, step):
                    break
                killed += 1
                self.assertLessEqual(before, self.everything(), (call, step))
                self.start()
                self.assertEqual({(name, content) for name, (_, content) in tree(self.backup).items()}, before, (call, step))
                for number in numbers:
                    name = f"projects/{slug(self.project)}/{number}.jsonl"
                    self.assertEqual(self.copy(self.project, number).read_bytes(), (self.backup / name).read_bytes(), (call, step))
        self.assertGreater(killed, 30)

    def test_a_full_disk(self):
        self.flat()
        number = self.conversation(self.project, text="y" * 400000)
        script = ('mkdir small; mount -t tmpfs -o size=2m,mode=700 tmpfs small; cp -a .claudebox small/; '
                  'while head -c 10000 /dev/zero >>small/filler 2>/dev/null; do :; done; truncate -s -100000 small/filler; '
                  'export HOME=$PWD/small; cp -a small/.claudebox saved; cd project; '
                  '"$0" --yes --exec true && exit 3; cd ..; '
                  'for f in $(cd saved && find . -type f); do cmp "saved/$f" "small/.claudebox/$f"; done; rm small/filler; cd project; '
                  '"$0" --yes --exec true; cd ..; for f in $(cd saved && find . -type f); do cmp "saved/$f" small/.claudebox/backup-flat/"$f"; done; '
                  f'find small/.claudebox/instances -name {number}.jsonl')
        done = subprocess.run(["unshare", "-Urm", "sh", "-ec", script, CLAUDEBOX], cwd=self.home, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stderr, "(?m)^claudebox: cannot .*No space left")
        self.assertIn("hint: the disk is full", done.stderr)
        self.assertIn(number, done.stdout)

    def test_two_starts_at_once(self):
        self.flat()
        numbers = [self.conversation(self.project) for _ in range(5)]
        before = tree(self.root)
        runs = [subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "true"], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        said = [run.communicate(timeout=60)[1] for run in runs]
        self.assertEqual([run.returncode for run in runs], [0] * 4, said)
        self.assertEqual(tree(self.backup), before)
        for number in numbers:
            self.assertTrue(self.copy(self.project, number).exists())

    def test_an_earlier_claudebox_runs_after_an_interruption(self):
        """It creates entries that the backup already has: both remain, and the start succeeds."""
        self.flat()
        self.backup.mkdir()
        (self.root / ".claude.json").rename(self.backup / ".claude.json")
        (self.root / ".claude.json").write_text('{"numStartups": 1}')
        self.start()
        self.assertEqual((self.backup / ".claude.json").read_text(), '{"numStartups": 7}')
        self.assertEqual((self.root / ".claude.json").read_text(), '{"numStartups": 1}')
        self.assertNotIn("Upgrade", self.start())


class Versions(FlatStateTest):
    def test_a_later_version_is_refused(self):
        self.box("true")
        for text in ("2\n", "17", "99999999999999999999\n"):
            (self.root / "version").write_text(text)
            before = tree(self.home)
            for arguments in (("--yes", "--exec", "true"), ("--dry-run",), ("--instances",), ("--gc", "--yes")):
                self.assertIn("later claudebox", self.refused(*arguments))
            done = self.claudebox("--check")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, "(?m)^broken +state .*later claudebox")
            self.assertEqual(tree(self.home), before)

    def test_a_version_file_without_a_number_is_refused(self):
        self.box("true")
        for text in ("", "x\n", "-1\n", "1 2\n"):
            (self.root / "version").write_text(text)
            self.assertIn("contains no version number", self.refused())

    def test_a_later_record_of_one_project_is_refused(self):
        self.box("true")
        path = self.instance(self.project) / "instance.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 2}))
        before = tree(self.root)
        self.assertIn("later claudebox", self.refused())
        self.assertEqual(tree(self.root), before)
        other = self.home / "other"
        other.mkdir()
        self.box("true", cwd=other)

    def test_a_state_without_a_version_file(self):
        self.box("echo kept >~/.claude/file")
        (self.root / "version").unlink()
        self.assertEqual(self.box("cat ~/.claude/file"), "kept\n")
        self.assertEqual((self.root / "version").read_text(), "1\n")


if __name__ == "__main__":
    unittest.main()
