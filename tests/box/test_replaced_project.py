# SPDX-License-Identifier: MIT
"""Another directory at the path of an earlier project does not get the earlier project's state, unless the user wants that."""
import hashlib
import json
import os
import shutil
import subprocess
import unittest

from lib.box import CLAUDEBOX, BoxTest, tree
from lib.on_terminal import CTRL_D, OnTerminal

AS_ROOT = True
LISTED = "conversations and settings of the earlier"


class ReplacedTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.all = self.home / ".claudebox" / "instances"
        self.id = hashlib.sha256(os.fsencode(self.project)).hexdigest()[:16]
        self.instance = self.all / self.id
        self.record = self.instance / "instance.json"
        self.kept = self.all / f"{self.id}.old-1"

    def used(self):
        """Runs a box that leaves a conversation and a hook in its state."""
        self.box("mkdir -p ~/.claude/projects/x; echo earlier >~/.claude/projects/x/1.jsonl; "
                 """echo '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "planted"}]}]}}' >~/.claude/settings.json""")

    def replace(self):
        shutil.rmtree(self.project)
        self.project.mkdir()

    def content(self):
        """Returns what a new box finds, and what claudebox reports."""
        done = self.claudebox("--yes", "--audit=full", "--exec", "sh", "-c", "cat ~/.claude/projects/x/1.jsonl; grep -o planted ~/.claude/settings.json")
        self.assertNotEqual(done.returncode, 125, done.stderr)
        return done.stdout, " ".join(done.stderr.split())


class Replaced(ReplacedTest):
    def test_a_new_directory_gets_a_new_state(self):
        self.used()
        before = tree(self.instance)
        self.replace()
        found, said = self.content()
        self.assertEqual(found, "")
        self.assertIn("~/project is not the directory that claudebox used at this path before (created 20", said)
        self.assertIn(f"kept as '{self.kept.name}'", said)
        self.assertIn("Claude state, new and empty", said)
        self.assertEqual(tree(self.kept), before)
        # The new state stays, without another message.
        self.box("echo new >~/.claude/note")
        found, said = self.content()
        self.assertNotIn(LISTED, said)
        self.assertEqual((self.instance / "claude/note").read_text(), "new\n")
        self.assertEqual(sorted(os.listdir(self.all)), [self.id, self.kept.name])

    def test_the_earlier_state_is_listed_removed_and_used_again(self):
        self.used()
        for _ in range(2):
            self.replace()
            self.box("true")
        rows = {row["id"]: row for row in json.loads(self.claudebox("--instances=json").stdout)["instances"]}
        second = self.all / f"{self.id}.old-2"
        self.assertEqual({name: (row["root"], row["project"], row["removable"]) for name, row in rows.items()},
                         {self.id: (str(self.project), "there", False), self.kept.name: (str(self.project), "replaced", True),
                          second.name: (str(self.project), "replaced", True)})
        said = " ".join(self.claudebox("--instances").stdout.split())
        self.assertIn("of an earlier directory at this path", said)
        self.assertIn("To use ID.old-N again: in ~/.claudebox/instances, rename ID if it exists, and ID.old-N to ID", said)
        self.assertEqual(self.claudebox("--gc", "--yes").returncode, 0)
        self.assertEqual(os.listdir(self.all), [self.id])

    def test_the_earlier_state_is_kept_in_doubt(self):
        """The directory of the earlier state may be on another disk, or may have come back."""
        self.used()
        away = self.project.rename(self.home / "away")
        self.project.mkdir()
        self.box("true")
        record = json.loads((self.kept / "instance.json").read_text())
        self.project.rmdir()
        away.rename(self.project)
        for change in ({}, {"file_system": "0123456789abcdef"}, {"born_ns": 1, "mount_point": str(self.home / "bin")}, {"inode": None, "born_ns": None}):
            changed = {key: value for key, value in (record | change).items() if value is not None}
            (self.kept / "instance.json").write_text(json.dumps(changed))
            self.claudebox("--gc", "--yes")
            self.assertTrue(self.kept.exists(), change)
        (self.kept / "instance.json").write_text(json.dumps(record | {"born_ns": 1}))
        self.claudebox("--gc", "--yes")
        self.assertFalse(self.kept.exists())

    def test_the_same_directory_keeps_its_state(self):
        """Changes in the directory, other names meanwhile, and a new worktree do not count."""
        self.repository(self.project)
        self.git("worktree", "add", "-q", "-b", "topic", self.home / "linked")
        self.used()
        self.project.rename(self.home / "moved").rename(self.project)
        shutil.rmtree(self.project / ".git" / "hooks")
        self.project.chmod(0o755)
        os.utime(self.project, (0, 0))
        self.assertEqual(self.content()[0], "earlier\nplanted\n")
        self.git("worktree", "remove", "--force", self.home / "linked")
        self.git("worktree", "add", "-q", self.home / "linked", "topic")
        self.assertEqual(self.box("cat ~/.claude/projects/x/1.jsonl", cwd=self.home / "linked"), "earlier\n")
        self.assertEqual(os.listdir(self.all), [self.id])

    def test_a_new_clone_with_worktrees(self):
        self.repository(self.project)
        self.used()
        shutil.rmtree(self.project)
        self.repository(self.project)
        self.git("worktree", "add", "-q", "-b", "topic", self.home / "linked")
        self.assertEqual(self.box("cat ~/.claude/projects/x/1.jsonl 2>/dev/null", cwd=self.home / "linked"), "")
        self.assertTrue(self.kept.exists())

    def test_a_record_without_an_identity_is_completed(self):
        self.used()
        record = json.loads(self.record.read_text())
        self.assertEqual(record["inode"], self.project.stat().st_ino)
        self.record.write_text(json.dumps({key: value for key, value in record.items() if key not in ("inode", "born_ns")}))
        self.replace()
        found, said = self.content()
        self.assertEqual((found, LISTED in said), ("earlier\nplanted\n", False))
        self.replace()
        self.assertEqual(self.content()[0], "")

    def test_other_commands_change_nothing(self):
        self.used()
        self.replace()
        before = tree(self.all)
        plan = self.plan()
        self.assertEqual(plan["replaced_instance"], self.kept.name)
        self.assertIn(LISTED, " ".join(plan["warnings"]))
        script = self.claudebox("--dry-run").stdout
        self.assertRegex(script, r"(?m)^# Not done by this script:\n# ~/project is not the directory")
        self.claudebox("--check")
        # There is no approval of the new directory, and nothing to ask on.
        self.assertEqual(self.claudebox("--exec", "true").returncode, 125)
        self.assertEqual(tree(self.all), before)
        self.assertEqual(self.claudebox("--prove=json").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.all)), [self.id])
        self.assertEqual(self.content()[0], "")

    def test_the_profile_that_never_asks(self):
        self.used()
        self.profile(confirm="never")
        self.replace()
        self.assertEqual(self.claudebox("--exec", "sh", "-c", "cat ~/.claude/projects/x/1.jsonl 2>/dev/null; true").stdout, "")
        self.assertTrue(self.kept.exists())

    def test_a_box_that_still_runs_in_the_earlier_directory(self):
        self.used()
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "echo up; read x; echo end >~/.claude/end"], cwd=self.project, env=self.env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), b"up\n")
        self.replace()
        self.assertEqual(self.content()[0], "")
        rows = {row["id"]: row for row in json.loads(self.claudebox("--instances=json").stdout)["instances"]}
        self.assertEqual((rows[self.kept.name]["in_use"], rows[self.kept.name]["removable"], rows[self.id]["in_use"]), (True, False, False))
        self.claudebox("--gc", "--yes")
        process.communicate(b"\n", timeout=20)
        self.assertEqual((self.kept / "claude/end").read_text(), "end\n")
        self.assertFalse((self.instance / "claude/end").exists())

    def test_concurrent_starts_keep_the_earlier_state_once(self):
        self.used()
        self.replace()
        runs = [subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "cat ~/.claude/projects/x/1.jsonl 2>/dev/null; echo up"], cwd=self.project,
                                 env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
        for run in runs:
            out, said = run.communicate(timeout=60)
            self.assertEqual((run.returncode, out), (0, "up\n"), said)
        self.assertEqual(sorted(os.listdir(self.all)), [self.id, self.kept.name])

    def test_file_systems(self):
        """On an overlay a directory gets other numbers when it changes, so it never counts as replaced. On a tmpfs it does."""
        for name in ("lower", "upper", "work", "mnt"):
            (self.home / name).mkdir()
        script = 'mount -t $1 $1 mnt $2 && mkdir mnt/p && cd mnt/p && "$0" --yes --exec sh -c "echo x >~/.claude/x" 2>/dev/null && cd .. && rmdir p && ' \
                 'mkdir -p q && mkdir p && cd p && exec "$0" --yes --exec sh -c "cat ~/.claude/x; echo up" 2>/dev/null'
        for kind, options, found in (("overlay", "-olowerdir=lower,upperdir=upper,workdir=work,userxattr", "x\nup\n"), ("tmpfs", "-osize=1m", "up\n")):
            done = subprocess.run(["unshare", "-Urm", "sh", "-c", script, CLAUDEBOX, kind, options], cwd=self.home, env=self.env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual((done.stdout, done.returncode), (found, 0), (kind, done.stderr))
            shutil.rmtree(self.all)


class Question(OnTerminal, ReplacedTest):
    def answer(self, *answers):
        """Starts on a terminal and answers the questions; returns the exit status and the output."""
        terminal = self.open(CLAUDEBOX, "--exec", "sh", "-c", "cat ~/.claude/projects/x/1.jsonl; true", env={"NO_COLOR": "1"}, columns=200)
        for question, answer in answers:
            terminal.expect(question)
            terminal.send(answer)
        return terminal.wait(), terminal.output.decode()

    def test_each_answer(self):
        replaced, start = r"\[N/k/a\] ", r"Start\? \[y/N\] "
        self.used()
        self.replace()
        before = tree(self.all)
        for answer in ("a\n", "x\n", "keep\n", CTRL_D):
            status, said = self.answer((replaced, answer))
            self.assertEqual(status, 125)
            self.assertIn("not started", said)
        for answer in ("k\n", "n\n"):  # the start is not confirmed
            self.assertEqual(self.answer((replaced, answer), (start, "n\n"))[0], 125)
        self.assertEqual(tree(self.all), before)
        status, said = self.answer((replaced, "K\n"), (start, "y\n"))
        self.assertEqual(status, 0)
        self.assertIn("\nearlier", said)
        self.assertIn("created 20", said)
        # No further question: the state belongs to the new directory now.
        status, said = self.answer((start, "y\n"))
        self.assertEqual((status, "\nearlier\r" in said, "[N/k/a]" in said), (0, True, False))
        self.assertEqual(os.listdir(self.all), [self.id])
        self.replace()
        status, said = self.answer((replaced, "\n"), (start, "y\n"))
        self.assertEqual((status, "\nearlier\r" in said, self.kept.exists()), (0, False, True))
        self.assertNotIn("Changed", said)
        # The earlier state can be taken back by its name.
        self.instance.rename(self.all / f"{self.id}.old-2")
        self.kept.rename(self.instance)
        status, said = self.answer((replaced, "k\n"), (start, "y\n"))
        self.assertEqual((status, "\nearlier\r" in said), (0, True))


if __name__ == "__main__":
    unittest.main()
