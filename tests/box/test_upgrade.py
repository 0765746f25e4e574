# SPDX-License-Identifier: MIT
"""Upgrades: a ~/.claudebox that was the .claude directory of all projects is taken over without loss; a later one is left alone."""
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
SIGN_IN = {"claudeAiOauth": {"accessToken": "sk-ant-oat01-flat-access", "refreshToken": "sk-ant-ort01-flat-refresh", "expiresAt": NOW + 3600000,
                             "scopes": ["user:inference"]}, "mcpOAuth": {"x": {"accessToken": "canary-mcp"}}}


def slug(path):
    return re.sub(r"[^a-zA-Z0-9]", "-", str(path))


class Flat(BoxTest):
    def setUp(self):
        super().setUp()
        self.root = self.home / ".claudebox"

    def instance(self, project):
        return self.root / "instances" / hashlib.sha256(os.fsencode(project)).hexdigest()[:16]

    def conversation(self, cwd, text="hello", where=None, extra=True):
        """A conversation as Claude writes it; returns its number."""
        number = str(uuid.uuid4())
        directory = self.root / "projects" / (where or slug(cwd))
        directory.mkdir(parents=True, exist_ok=True)
        lines = [{"type": "summary", "summary": "x", "leafUuid": "y"},
                 {"type": "user", "cwd": str(cwd) if cwd else None, "sessionId": number, "message": {"role": "user", "content": text}}]
        path = directory / f"{number}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        os.utime(path, (1700000000, 1700000000))
        if extra:
            for name in (f"todos/{number}-agent-{number}.json", f"file-history/{number}/a@v1", f"projects/{slug(cwd)}/{number}/subagents/b.jsonl"):
                file = self.root / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(f"{name} {text}")
        return number

    def flat(self):
        """An old state with everything in it; returns its tree."""
        self.root.mkdir(mode=0o700)
        for name, content in ((".claude.json", '{"numStartups": 7}'), (".credentials.json", json.dumps(SIGN_IN)), ("settings.json", '{"model": "opus"}'),
                              ("history.jsonl", '{"display": "x"}\n'), ("CLAUDE.md", "old memory"), ("commands/c.md", "c"), ("statsig/s", "s")):
            path = self.root / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        return tree(self.root)

    def backup(self):
        found = [name for name in os.listdir(self.root) if name.startswith("backup-")]
        self.assertEqual(len(found), 1, os.listdir(self.root))
        self.assertRegex(found[0], r"^backup-\d{8}-\d{6}$")
        return self.root / found[0]

    def start(self, status=0, cwd=None, **options):
        done = self.claudebox("--yes", "--exec", "true", cwd=cwd, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return " ".join(done.stderr.split())


class TakeOver(Flat):
    def test_all_of_it(self):
        self.flat()
        other = self.home / "other"
        other.mkdir()
        mine = self.conversation(self.project)
        theirs = self.conversation(other)
        lost = self.conversation("/nowhere/at/all")
        (self.root / "projects" / slug(self.project) / "memory").mkdir()
        (self.root / "projects" / slug(self.project) / "memory" / "MEMORY.md").write_text("remember")
        before = tree(self.root)
        said = self.start()
        self.assertIn("2 conversations, copied to the state of 2 projects; the sign-in comes along", said)
        self.assertIn("1 conversation whose project is not here", said)
        self.assertIn("settings.json", said)
        # all of the old state is in the backup, byte for byte
        self.assertEqual(tree(self.backup()), before)
        for project, number in ((self.project, mine), (other, theirs)):
            claude = self.instance(project) / "claude"
            path = claude / "projects" / slug(project) / f"{number}.jsonl"
            self.assertIn("hello", path.read_text())
            self.assertEqual(path.stat().st_mtime, 1700000000)
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            for name in (f"todos/{number}-agent-{number}.json", f"file-history/{number}/a@v1", f"projects/{slug(project)}/{number}/subagents/b.jsonl"):
                self.assertEqual((claude / name).read_text(), f"{name} hello")
            self.assertEqual(json.loads((self.instance(project) / "instance.json").read_text())["root"], str(project))
            self.assertEqual(len(list((claude / "projects" / slug(project)).glob("*.jsonl"))), 1)
        self.assertEqual((self.instance(self.project) / "claude/projects" / slug(self.project) / "memory/MEMORY.md").read_text(), "remember")
        self.assertFalse(list((self.root / "instances").rglob(f"{lost}*")))
        self.assertEqual((self.root / "version").read_text(), "1\n")
        self.assertEqual(sorted(os.listdir(self.root)), sorted([self.backup().name, "instances", "sign-in", "sign-in.lock", "version"]))
        # … and the next start has nothing to do
        self.assertNotIn("Upgrade", self.start())
        self.backup()

    def test_the_box_sees_it(self):
        self.flat()
        number = self.conversation(self.project)
        out = self.box(f"cat ~/.claude/projects/{slug(self.project)}/{number}.jsonl; cat ~/.claude/.credentials.json; cat ~/.claude/CLAUDE.md 2>&1")
        self.assertIn("hello", out)
        self.assertIn("flat-access", out)
        self.assertNotIn("canary-mcp", out)
        self.assertNotIn("old memory", out)

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

    def test_ambiguous_names_go_by_what_the_files_say(self):
        one = self.home / "a-b"
        two = self.home / "a" / "b"
        one.mkdir()
        two.mkdir(parents=True)
        self.assertEqual(slug(one), slug(two))
        self.flat()
        numbers = [self.conversation(place, extra=False) for place in (one, two)]
        (self.root / "projects" / slug(one) / "memory").mkdir()
        (self.root / "projects" / slug(one) / "memory" / "M.md").write_text("whose?")
        stray = self.conversation("/etc", where=slug(one), extra=False)
        silent = self.conversation(None, where=slug(one), extra=False)
        self.start()
        for place, number in zip((one, two), numbers):
            self.assertEqual(os.listdir(self.instance(place) / "claude/projects" / slug(place)), [f"{number}.jsonl"])
        self.assertFalse(list((self.root / "instances").rglob("M.md")))
        for number in (stray, silent):
            self.assertFalse(list((self.root / "instances").rglob(f"{number}*")))

    def test_no_sign_in_where_there_is_one(self):
        self.flat()
        (self.home / ".claude").mkdir()
        (self.home / ".claude" / ".credentials.json").write_text(json.dumps(SIGN_IN).replace("flat", "host"))
        said = self.start()
        self.assertIn("the sign-in does not", said)
        self.assertIn("host-access", self.box("cat ~/.claude/.credentials.json"))
        self.assertIn("host-access", (self.home / ".claude" / ".credentials.json").read_text())

    def test_beside_todays_layout(self):
        """A later claudebox has already started here."""
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
        claude = self.instance(self.project) / "claude"
        self.assertEqual((claude / "projects/x/y").read_text(), "new\n")
        self.assertTrue((claude / "projects" / slug(self.project) / f"{number}.jsonl").exists())
        self.assertEqual(tree(self.root / "profiles"), kept)

    def test_what_a_box_has_today_is_not_overwritten(self):
        self.flat()
        number = self.conversation(self.project)
        claude = self.instance(self.project) / "claude"
        target = claude / "projects" / slug(self.project) / f"{number}.jsonl"
        target.parent.mkdir(parents=True)
        target.write_text("newer")
        self.start()
        self.assertEqual(target.read_text(), "newer")

    def test_dry_run_and_check_say_it_and_change_nothing(self):
        self.flat()
        self.conversation(self.project)
        before = tree(self.home)
        done = self.claudebox("--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("# 1 conversation, copied", done.stdout)
        self.assertEqual(subprocess.run(["sh", "-n"], input=done.stdout, text=True, check=False).returncode, 0)
        self.assertEqual(len(self.plan()["upgrade"]), 3)
        self.assertRegex(self.claudebox("--check").stdout, r"(?m)^ok +state .*earlier claudebox.*backup")
        self.refused("--prove")
        self.refused("--exec", "true")  # nobody to ask
        for arguments in (("--instances",), ("--gc", "--yes")):
            self.assertEqual(self.claudebox(*arguments).returncode, 0)
        self.assertEqual(tree(self.home), before)
        self.start()
        self.assertNotIn("upgrade", self.plan())

    def test_a_directory_that_is_none(self):
        """Nothing in it says that it was Claude's."""
        self.root.mkdir(mode=0o700)
        (self.root / "settings.json").write_text("{}")
        (self.root / "notes").write_text("x")
        self.assertNotIn("Upgrade", self.start())
        self.assertEqual((self.root / "notes").read_text(), "x")


class Hostile(Flat):
    def test_links_are_not_followed(self):
        victim = self.home / "victim"
        victim.mkdir()
        (victim / f"{uuid.uuid4()}.jsonl").write_text(json.dumps({"cwd": str(self.project)}) + "\n")
        (self.home / "secret").write_text("canary-secret")
        self.flat()
        number = self.conversation(self.project)
        directory = self.root / "projects" / slug(self.project)
        (directory / "memory").symlink_to(victim)
        (directory / number / "key").symlink_to(self.home / "secret")
        (directory / f"{uuid.uuid4()}.jsonl").symlink_to(next(victim.iterdir()))
        os.mkfifo(directory / f"{uuid.uuid4()}.jsonl")
        os.mkfifo(directory / "pipe")
        before = tree(victim)
        said = self.start()
        self.assertIn("things in conversations are only there", said)
        self.assertEqual(tree(victim), before)
        self.assertFalse([path for path in (self.root / "instances").rglob("*") if path.is_symlink() and path.parent.name != "claude"])
        self.assertEqual(subprocess.run(["grep", "-r", "canary-secret", self.root / "instances"], check=False, stdout=subprocess.DEVNULL).returncode, 1)

    def test_projects_that_is_a_link(self):
        self.flat()
        (self.home / "elsewhere" / slug(self.project)).mkdir(parents=True)
        (self.home / "elsewhere" / slug(self.project) / f"{uuid.uuid4()}.jsonl").write_text(json.dumps({"cwd": str(self.project)}))
        (self.root / "projects").symlink_to(self.home / "elsewhere")
        self.start()
        self.assertFalse((self.instance(self.project) / "claude/projects").exists())
        self.assertTrue((self.backup() / "projects").is_symlink())

    def test_the_targets_are_traps(self):
        self.flat()
        self.conversation(self.project)
        claude = self.instance(self.project) / "claude"
        claude.mkdir(parents=True)
        (self.home / "victim").mkdir()
        (claude / "projects").symlink_to(self.home / "victim")
        self.start()
        self.assertEqual(os.listdir(self.home / "victim"), [])

    def test_a_place_where_no_box_may_be(self):
        """A conversation may name any directory."""
        self.flat()
        for place in (self.home, "/", "/etc", self.home / ".ssh", f"{self.project}/../project", "relative"):
            pathlib.Path(self.home / ".ssh").mkdir(exist_ok=True)
            self.conversation(place, extra=False)
        self.start()
        self.assertEqual(os.listdir(self.root / "instances"), [self.instance(self.project).name])

    def test_a_hole_stays_a_hole(self):
        self.flat()
        number = self.conversation(self.project)
        path = self.root / "projects" / slug(self.project) / f"{number}.jsonl"
        with open(path, "ab") as file:
            file.truncate(1 << 36)
        self.start()
        copy = self.instance(self.project) / "claude/projects" / slug(self.project) / path.name
        self.assertEqual(copy.stat().st_size, 1 << 36)
        self.assertLess(copy.stat().st_blocks * 512, 1 << 20)


class Interrupted(Flat):
    def everything(self):
        """Names and contents of all that the old state had, wherever it is."""
        seen = set()
        for place in (self.root, *self.root.glob("backup-*")):
            for name, (_, content) in tree(place).items():
                seen.add((name, content))
        return seen

    def test_killed_at_any_moment(self):
        """Under strace, before each call that changes something."""
        self.flat()
        numbers = [self.conversation(self.project, text="x" * 100) for _ in range(2)]
        saved = self.home / "saved"
        shutil.copytree(self.root, saved, symlinks=True)
        before = {(name, content) for name, (_, content) in tree(self.root).items()}
        calls = "mkdirat,renameat,renameat2,copy_file_range,syncfs,ftruncate,fsync,unlinkat"
        killed = 0
        for step in range(1, 200):
            shutil.rmtree(self.root)
            shutil.copytree(saved, self.root, symlinks=True)
            self.root.chmod(0o700)
            command = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={calls}:signal=KILL:when={step}",
                       CLAUDEBOX, "--yes", "--exec", "true"]
            done = subprocess.run(command, cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
            self.assertLessEqual(before, self.everything(), step)
            if done.returncode == 0:
                break
            killed += 1
            self.start()
            self.assertEqual({(name, content) for name, (_, content) in tree(self.backup()).items()}, before, step)
            for number in numbers:
                for name in (f"projects/{slug(self.project)}/{number}.jsonl", f"file-history/{number}/a@v1"):
                    self.assertEqual((self.instance(self.project) / "claude" / name).read_bytes(), (self.backup() / name).read_bytes(), step)
            self.assertTrue((self.root / "sign-in/store/.credentials.json").exists())
            self.assertEqual(list(self.root.rglob("*.part")), [])
            if (self.root / "version").exists() and killed > 60:
                break
        self.assertGreater(killed, 20)

    def test_a_full_disk(self):
        self.flat()
        number = self.conversation(self.project, text="y" * 400000, extra=False)
        script = ('mkdir small; mount -t tmpfs -o size=1m,mode=700 tmpfs small; cp -a .claudebox small/; head -c 300000 /dev/zero >small/filler; '
                  'export HOME=$PWD/small; cp -a small/.claudebox saved; cd project; '
                  '"$0" --yes --exec true && exit 3; cd ..; '
                  'for f in $(cd saved && find . -type f); do cmp "saved/$f" "small/.claudebox/$f"; done; rm small/filler; cd project; '
                  '"$0" --yes --exec true; cd ..; for f in $(cd saved && find . -type f); do cmp "saved/$f" small/.claudebox/backup-*/"$f"; done; '
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
        self.assertEqual(tree(self.backup()), before)
        for number in numbers:
            self.assertTrue((self.instance(self.project) / "claude/projects" / slug(self.project) / f"{number}.jsonl").exists())


class Versions(Flat):
    def test_a_later_one_is_left_alone(self):
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

    def test_no_version_at_all(self):
        self.box("true")
        for text in ("", "x\n", "-1\n", "1 2\n"):
            (self.root / "version").write_text(text)
            self.assertIn("holds no version", self.refused())

    def test_a_later_record_of_one_project(self):
        self.box("true")
        path = self.instance(self.project) / "instance.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 2}))
        before = tree(self.root)
        self.assertIn("later claudebox", self.refused())
        self.assertEqual(tree(self.root), before)
        other = self.home / "other"
        other.mkdir()
        self.box("true", cwd=other)

    def test_a_state_from_before_versions(self):
        self.box("echo kept >~/.claude/file")
        (self.root / "version").unlink()
        self.assertEqual(self.box("cat ~/.claude/file"), "kept\n")
        self.assertEqual((self.root / "version").read_text(), "1\n")


if __name__ == "__main__":
    unittest.main()
