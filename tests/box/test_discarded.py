# SPDX-License-Identifier: MIT
"""The report names files in memory that end with the box: temporary files, and those in an empty home."""
import json
import re

from lib.box import BoxTest

AS_ROOT = True

# Commands that leave nothing which a user misses.
HARMLESS = ("true", "mkdir -p /tmp/a/b", "touch /tmp/empty", "ln -s /etc/passwd /tmp/link", "mkfifo /tmp/fifo", "echo x >/tmp/a; rm /tmp/a",
            "mkdir -p /tmp/claude-1000/x; echo x >/tmp/claude-1000/x/output", "mkdir -p /tmp/x/node_modules/y; echo x >/tmp/x/node_modules/y/z",
            "mkdir /tmp/x/__pycache__ -p; echo x >/tmp/x/__pycache__/y.pyc", "echo x >/dev/shm/sem.x")


class Discarded(BoxTest):
    def run_box(self, script, *options):
        done = self.claudebox("--yes", *options, "--exec", "bash", "-c", script)
        self.assertNotEqual(done.returncode, 125, done.stderr)
        return done.stderr

    def discarded(self):
        return json.loads(self.claudebox("--report=json").stdout)["discarded"]

    def test_files_at_the_top_come_first_and_a_directory_is_named_once(self):
        error = self.run_box("echo r >/tmp/report.md; mkdir -p /tmp/out/x; for i in $(seq 33); do echo x >/tmp/out/x/n$i; done; "
                             "echo o >/tmp/out/o; echo v >/var/tmp/v; echo s >/dev/shm/s")
        self.assertRegex(error, r"deleted with the box: /(tmp/report.md|var/tmp/v|dev/shm/s), /\S+, /\S+, /tmp/out/ \(34 files\) \(37 files, \d+ bytes\)")
        for name in ("/tmp/report.md", "/var/tmp/v", "/dev/shm/s"):
            self.assertIn(name, error)
        self.assertIn("/tmp/out/ (34 files)", self.claudebox("--report").stdout)

    def test_the_rest_of_many_is_counted(self):
        error = self.run_box("for i in $(seq 30); do mkdir /tmp/d$i; echo x >/tmp/d$i/1; echo x >/tmp/d$i/2; done; echo x >/tmp/x")
        found = re.search(r"box: /tmp/x((?:, /tmp/d\d+/ \(2 files\))+) and (\d+) more \(61 files", error)
        self.assertEqual(1 + 2 * found[1].count("files") + int(found[2]), 61)

    def test_files_in_tmp_are_named_the_newest_first(self):
        error = self.run_box("echo 1 >/tmp/old; touch -d '1 hour ago' /tmp/old; mkdir -p /tmp/a/b; head -c 5000 /dev/zero >/tmp/a/b/new")
        self.assertIn("deleted with the box: /tmp/old, /tmp/a/b/new (2 files, 5.0 kB)", error)
        self.assertEqual(self.discarded(), {"count": 2, "size": 5002, "incomplete": False,
                                            "list": [{"path": "/tmp/a/b/new", "size": 5000}, {"path": "/tmp/old", "size": 2}],
                                            "names": [{"path": "/tmp/old", "count": 1}, {"path": "/tmp/a/b/new", "count": 1}]})
        self.assertIn("deleted with the box: /tmp/old, /tmp/a/b/new", self.claudebox("--report").stdout)

    def test_nothing_is_said_about_what_nobody_misses(self):
        for script in HARMLESS:
            with self.subTest(script):
                self.assertNotIn("deleted with the box", self.run_box(script))
                self.assertEqual(self.discarded()["count"], 0)

    def test_changed_files_of_the_project_come_first(self):
        self.assertRegex(self.run_box("echo x >new; echo x >/tmp/x"), "report: 1 file changed.*; 1 file deleted with the box")

    def test_an_empty_home(self):
        self.profile(home="none")
        error = self.run_box("mkdir ~/out; echo x >~/out/result; echo x >~/.bash_history; mkdir -p ~/.cache/a; echo x >~/.cache/a/b; echo x >kept")
        self.assertIn("1 file deleted with the box", error)
        self.assertEqual([row["path"] for row in self.discarded()["list"]], [f"{self.home}/out/result"])

    def test_a_kept_home_keeps_its_files(self):
        self.run_box("echo x >~/result")
        self.assertEqual(self.discarded()["count"], 0)
        self.run_box("test -s ~/result && echo y >~/result")
        self.assertEqual(self.discarded()["count"], 0)

    def test_a_mount_of_the_user_in_tmp_is_not_deleted(self):
        shared = self.scratch() / "shared"
        shared.mkdir()
        self.run_box("echo x >/tmp/shared/x; echo y >/tmp/y", "--mount-rw", f"{shared}:/tmp/shared")
        self.assertEqual([row["path"] for row in self.discarded()["list"]], ["/tmp/y"])
        self.assertEqual((shared / "x").read_text(), "x\n")

    def test_names_forge_no_line(self):
        error = self.run_box("echo x >$'/tmp/a\nreport: nothing changed\e[2K'")
        self.assertIn("deleted with the box: ", error)
        self.assertNotIn("\nreport: nothing changed", error)
        self.assertNotIn("\x1b", error)
        self.assertNotIn("\x1b", self.claudebox("--report").stdout)

    def test_many_files_and_deep_directories_are_bounded(self):
        error = self.run_box("mkdir /tmp/many && cd /tmp/many && seq 30000 | xargs -n 1000 sh -c 'for i; do echo x >$i; done' sh")
        self.assertRegex(error, r"\(at least \d+ files, ")
        self.assertTrue(self.discarded()["incomplete"])
        self.run_box("cd /tmp; for i in $(seq 300); do mkdir d$i; cd d$i; echo x >f; done")
        self.assertTrue(self.discarded()["incomplete"])
        self.assertLess(self.discarded()["count"], 40)

    def test_a_closed_directory(self):
        self.run_box("mkdir /tmp/d; echo x >/tmp/d/f; chmod 0 /tmp/d; echo y >/tmp/y")
        self.assertIn("/tmp/y", [row["path"] for row in self.discarded()["list"]])

    def test_what_a_process_writes_that_outlives_the_agent(self):
        error = self.run_box("(while :; do echo x >>/tmp/x; done) & sleep 0.2")
        self.assertIn("deleted with the box: /tmp/x", error)

    def test_quiet_says_nothing(self):
        self.assertEqual(self.run_box("echo x >/tmp/x", "--quiet"), "")
