# SPDX-License-Identifier: MIT
"""The list of Claude files that were searched for secrets: a second start does not read them again, and no change of a file, of the
list or of claudebox hides a secret. The secrets are generated, so that no scanner of repositories finds a token here."""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import time
import unittest

from box.test_claude_files import secret, text, token
from box.test_state import StateTest
from lib.box import CLAUDEBOX, tree
from lib.other_host import OtherHost

SETTLED = 2.1  # seconds: a file that has just changed is searched again


class SearchedFiles(StateTest):
    def setUp(self):
        super().setUp()
        self.list = self.root / "searched"
        self.lengths = 0

    def settle(self):
        time.sleep(SETTLED)

    def start(self, *options, **more):
        """Starts a box. Returns the audit."""
        done = self.claudebox("--yes", *options, "--exec", "true", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return " ".join(done.stderr.replace("\n    ", " ").split())

    def write(self, path, content):
        """Gives each file a length of its own, by which read_by_start() knows it."""
        place = super().write(path, content)
        if place.is_relative_to(self.claude) and not place.is_symlink():
            self.lengths += 1
            with place.open("a") as file:
                file.write("\n" * (10007 + 17 * self.lengths - place.stat().st_size))
        return place

    def read_by_start(self, *options):
        """Returns the names of the Claude files that a start reads. No process may look into claudebox, so they are known by their length."""
        log = self.home / "trace"
        subprocess.run(["strace", "-f", "-qq", "-o", log, "-e", "trace=read", self.under_test, *(options or ("--yes", "--exec", "true"))],
                       cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60)
        lengths = [match[1] for match in re.finditer(r"read\(\d+, \w+, (\d+)\) += (\d+)", log.read_text()) if match[1] == match[2]]
        names = {}
        for place in filter(pathlib.Path.is_file, self.claude.rglob("*")):
            names.setdefault(str(place.stat().st_size), []).append(str(place.relative_to(self.claude)))
        return sorted(name for length, found in names.items() for name in sorted(found)[:lengths.count(length)])

    def harmless(self):
        for name in ("plugins/p/a.md", "plugins/p/b.json", "skills/s/SKILL.md", "skills/s/run.sh", "CLAUDE.md", "notify.sh"):
            self.write(self.claude / name, {"a": 1} if name.endswith("json") else f"echo {name}\n")
        return ["CLAUDE.md", "notify.sh", "plugins/p/a.md", "plugins/p/b.json", "skills/s/SKILL.md", "skills/s/run.sh"]

    def test_a_second_start_reads_only_what_has_changed(self):
        names = self.harmless()
        self.settle()
        first = self.plan()
        self.assertEqual(self.read_by_start(), names)
        self.assertEqual(stat.S_IMODE(self.list.stat().st_mode), 0o600)
        content = self.list.read_bytes()
        for word in (b"SKILL", b"plugins", b"echo", b".md", os.fsencode(self.home)):
            self.assertNotIn(word, content)
        written = self.list.stat()
        self.assertEqual(self.read_by_start(), [])
        self.assertEqual(self.read_by_start("--dry-run=json"), ["CLAUDE.md"])  # for its imports, as claude would start
        self.assertEqual((self.list.stat().st_ino, self.list.stat().st_mtime_ns), (written.st_ino, written.st_mtime_ns))
        second = self.plan()
        self.assertEqual((first["mounts"], first["warnings"]), (second["mounts"], second["warnings"]))
        self.write(self.claude / "plugins/p/a.md", "echo other\n")
        self.write(self.claude / "plugins/p/new.md", "new\n")
        self.assertEqual(self.read_by_start(), ["plugins/p/a.md", "plugins/p/new.md"])
        self.assertEqual(self.read_by_start(), ["plugins/p/a.md", "plugins/p/new.md"])  # they have just changed
        self.settle()
        self.start()
        self.assertEqual(self.read_by_start(), [])

    def test_findings_are_reported_at_every_start(self):
        self.harmless()
        self.write(self.claude / "skills/deploy/deploy.py", f"key = '{token()}'\n")
        self.write(self.claude / "agents/b.md", "an agent\nexport DB_PASSWORD=hunter22\n")
        self.write(self.claude / "plugins/data/d.json", {"refresh_token": secret(40), "n": 1})
        self.write(self.claude / "plugins/data/.env", "X=1\n")
        self.write(self.claude / "CLAUDE.md", f"one\nlogin with {token()}\n")
        self.settle()
        plans = [self.plan()]
        for _ in range(3):
            said = self.start()
            for name in ("skills/deploy/deploy.py", "'agents/b.md' line 2 may contain a secret", "refresh_token", "plugins/data/.env", "in line 2"):
                self.assertIn(name, said)
            plans.append(self.plan())
        for plan in plans[1:]:
            self.assertEqual((plan["mounts"], plan["warnings"]), (plans[0]["mounts"], plans[0]["warnings"]))
        self.assertEqual(self.read_by_start(), ["CLAUDE.md", "agents/b.md", "plugins/data/d.json", "skills/deploy/deploy.py"])

    def known(self, name="skills/s/run.sh"):
        """Puts a harmless file on the list. Returns its path, and a text of the same length with a secret."""
        place = self.write(self.claude / name, "echo harmless\n")
        planted = f"echo {token()}\n".ljust(place.stat().st_size, "\n")
        self.write(self.claude / "skills/s/SKILL.md", "a skill\n")
        self.settle()
        self.start()
        self.assertEqual(self.read_by_start("--dry-run"), [])
        return place, planted

    def restore_times(self, place, before):
        os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
        now = place.stat()
        self.assertEqual((now.st_size, now.st_mtime_ns), (before.st_size, before.st_mtime_ns))

    def assert_left_out(self, name="skills/s/run.sh"):
        self.assertIn(f"'{name}' is left out", self.start())
        self.assertEqual(self.box(f"cat ~/.claude/{name} 2>/dev/null; ls ~/.claude/skills/s"), "SKILL.md\n")

    def test_another_content_with_the_same_size_and_time(self):
        place, planted = self.known()
        before = place.stat()
        with place.open("r+") as file:
            file.write(planted)
        self.restore_times(place, before)
        self.assertEqual(place.stat().st_ino, before.st_ino)
        self.assert_left_out()
        self.assert_left_out()

    def test_another_file_is_renamed_over_it(self):
        place, planted = self.known()
        before = place.stat()
        other = self.write(self.home / "other", planted)
        self.restore_times(other, before)
        other.rename(place)
        self.assert_left_out()

    def test_two_files_change_places(self):
        """Each is known under its own name and number."""
        place, planted = self.known()
        other = self.write(self.home / "other", planted)
        self.restore_times(other, place.stat())
        self.settle()
        for left_out in (True, False, True):
            third = self.home / "third"
            place.rename(third)
            other.rename(place)
            third.rename(other)
            self.assertEqual("is left out" in self.start(), left_out)

    def test_a_hard_link_to_a_secret_replaces_it(self):
        place, planted = self.known()
        other = self.write(self.home / "other", planted)
        self.restore_times(other, place.stat())
        place.unlink()
        place.hardlink_to(other)
        self.assert_left_out()

    def test_a_hard_link_with_a_name_that_is_judged_otherwise(self):
        """In a document, a password of letters is prose; in a script it counts. Both names have the same numbers and times."""
        place = self.write(self.claude / "skills/s/SKILL.md", "DB_PASSWORD=correcthorse\n")
        script = self.claude / "skills/s/run.sh"
        script.hardlink_to(place)
        self.settle()
        self.assert_left_out()
        self.assert_left_out()
        self.assertEqual(len(self.read_by_start("--dry-run")), 1)

    def test_a_link_in_its_place(self):
        place, planted = self.known()
        other = self.write(self.home / "other", planted)
        place.unlink()
        place.symlink_to(other)
        self.start()
        self.assertEqual(self.box("cat ~/.claude/skills/s/run.sh 2>/dev/null; readlink ~/.claude/skills/s/run.sh"), f"{other}\n")

    def test_a_mount_over_it(self):
        place, planted = self.known()
        other = self.write(self.home / "other", planted)
        self.restore_times(other, place.stat())
        self.settle()
        host = OtherHost(self, {})
        options = ("--ro-bind", other, place)
        done = host.claudebox("--yes", "--exec", "true", options=options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("run.sh", " ".join(done.stderr.split()).partition("is left out")[0])
        self.assertIn("is left out", done.stderr)
        self.assertNotIn("is left out", host.claudebox("--yes", "--exec", "true").stderr)

    def test_a_list_that_cannot_be_used(self):
        """Each is ignored: everything is searched, and the next start has a list again."""
        place, planted = self.known()
        good = self.list.read_bytes()
        victim = self.write(self.home / "victim", "mine\n")

        def plant(content):
            self.list.write_bytes(content)

        cases = {"missing": lambda: None, "empty": lambda: plant(b""), "garbage": lambda: plant(os.urandom(5000)),
                 "text": lambda: plant(b"{}\n" * 100), "cut": lambda: plant(good[:-20]), "header only": lambda: plant(good[:30]),
                 "another format": lambda: plant(b"claude9\n" + good[8:]), "too long": lambda: plant(good + bytes(48 * 20001)),
                 "link": lambda: self.list.symlink_to(victim), "dangling link": lambda: self.list.symlink_to(self.home / "nowhere"),
                 "directory": self.list.mkdir, "fifo": lambda: os.mkfifo(self.list), "unreadable": lambda: (plant(good), self.list.chmod(0))}
        for name, case in cases.items():
            with self.subTest(name):
                self.list.unlink()
                case()
                before = place.read_text()
                for _ in range(2):
                    self.start()
                self.assertEqual(stat.S_IMODE(self.list.lstat().st_mode), 0o600)
                self.assertTrue(self.list.is_file() and not self.list.is_symlink())
                self.assertEqual(self.read_by_start("--dry-run"), [])
                self.assertEqual((victim.read_text(), place.read_text()), ("mine\n", before))
        self.assertFalse((self.home / "nowhere").exists())
        place.write_text(planted)
        self.assert_left_out()

    def test_another_claudebox_searches_again(self):
        self.known()
        copy = self.home / "bin/claudebox"
        shutil.copy2(CLAUDEBOX, copy)
        self.under_test = str(copy)
        self.assertEqual(self.read_by_start(), ["skills/s/SKILL.md", "skills/s/run.sh"])
        self.assertEqual(self.read_by_start(), [])
        os.utime(copy, (1, 1))  # only its times
        self.assertEqual(self.read_by_start(), ["skills/s/SKILL.md", "skills/s/run.sh"])

    def test_only_a_start_writes_the_list(self):
        names = self.harmless()
        self.start()
        self.settle()
        before = tree(self.root)
        for command in (["--dry-run"], ["--dry-run=json"], ["--check"], ["--instances"]):
            self.claudebox(*command)
            self.assertEqual(tree(self.root), before, command)
        self.assertEqual(self.read_by_start(), names)

    def test_starts_at_the_same_time(self):
        for number in range(40):
            self.write(self.claude / f"skills/s{number}/SKILL.md", f"skill {number}\n")
        self.settle()
        running = []
        for number in range(6):
            project = self.home / f"project{number}"
            project.mkdir()
            running.append(subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "true"], cwd=project, env=self.env, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        self.assertEqual([process.wait(60) for process in running], [0] * 6)
        self.assertEqual(self.read_by_start(), [])
        self.assertFalse([name for name in os.listdir(self.root) if name.startswith(".claudebox-")])

    def test_two_claude_directories_in_turn(self):
        """A user with two accounts starts with one and the other."""
        self.harmless()
        other = self.home / "other-claude"
        self.write(other / "skills/s/SKILL.md", text(20) + "\n")
        self.settle()
        self.start()
        self.start(env={"CLAUDE_CONFIG_DIR": str(other)})
        self.assertEqual(self.read_by_start(), [])


del StateTest

if __name__ == "__main__":
    unittest.main()
