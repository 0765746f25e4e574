# SPDX-License-Identifier: MIT
"""--instances and --gc: the list, which instances are removed, and what is never changed."""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, BoxTest, tree, until
from lib.on_terminal import OnTerminal

AS_ROOT = True


def id_of(path):
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


class InstancesTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.all = self.home / ".claudebox" / "instances"

    def start(self, name="project", script="true"):
        """Runs a box in a project; returns the project and its instance."""
        place = self.home / name
        place.mkdir(parents=True, exist_ok=True)
        self.box(script, cwd=place)
        return place, self.all / id_of(place)

    def gone(self, name="gone", script="true"):
        """Runs a box in a project and deletes the project; returns the instance."""
        place, instance = self.start(name, script)
        shutil.rmtree(place)
        return instance

    def list(self, *arguments, env=None):
        done = self.claudebox("--instances=json", *arguments, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = json.loads(done.stdout)
        self.assertEqual(listed["version"], 1)
        return listed["instances"]

    def row(self, instance):
        return next(row for row in self.list() if row["id"] == instance.name)

    def gc(self, *arguments, status=0, env=None):
        done = self.claudebox("--gc", *(arguments or ("--yes",)), env=env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def record(self, instance, **changes):
        path = instance / "instance.json"
        record = json.loads(path.read_text()) | changes
        path.write_text(json.dumps({key: value for key, value in record.items() if value is not None}))


class Listing(InstancesTest):
    def test_records_of_worktrees_are_removed_with_their_project(self):
        for name in ("main", "other"):
            self.repository(self.home / name)
            self.git("worktree", "add", "-q", "-b", "topic", self.home / f"{name}-linked", cwd=self.home / name)
            self.box("true", cwd=self.home / f"{name}-linked")
        places = self.home / ".claudebox" / "places"
        self.assertEqual({path.name for path in places.iterdir()}, {id_of(self.home / "main-linked"), id_of(self.home / "other-linked")})
        shutil.rmtree(self.home / "main")
        shutil.rmtree(self.home / "main-linked")
        self.assertEqual(self.claudebox("--gc", "--yes").returncode, 0)
        self.assertEqual([path.name for path in places.iterdir()], [id_of(self.home / "other-linked")])

    def test_without_a_state_directory(self):
        self.assertEqual(self.list(), [])
        self.assertIn("0 instances", self.claudebox("--instances").stdout)
        self.assertIn("Nothing to remove", self.gc())
        self.assertFalse((self.home / ".claudebox").exists())

    def test_every_field(self):
        place, instance = self.start(script="head -c 300000 /dev/urandom >~/.claude/big")
        row = self.row(instance)
        self.assertEqual(sorted(row), ["home", "id", "in_use", "last_use", "project", "quarantined", "removable", "root", "size", "size_complete", "snapshots", "why"])
        self.assertEqual((row["root"], row["in_use"], row["project"], row["removable"], row["why"], row["size_complete"]),
                         (str(place), False, "there", False, None, True))
        self.assertGreater(row["size"], 300000)
        self.assertLess(row["size"], 900000)
        self.assertLess(abs(row["last_use"] - time.time()), 60)
        said = self.claudebox("--instances").stdout
        self.assertIn("~/project\n", said)
        self.assertRegex(said, rf"{instance.name}, [0-9.]+ kB \(home: [0-9.]+ (?:kB|bytes), snapshots: [0-9.]+ (?:kB|bytes)\), used just now\n1 instance, ")

    def test_sorted_by_last_use(self):
        made = [self.start(name)[1] for name in ("one", "two", "three")]
        for days, instance in zip((40, 1, 900), made):
            then = time.time() - days * 86400 - 100
            os.utime(instance / "instance.lock", (then, then))
        self.assertEqual([row["id"] for row in self.list()], [made[1].name, made[0].name, made[2].name])
        said = self.claudebox("--instances").stdout
        for age in ("1 day ago", "1 month ago", "2 years ago"):
            self.assertIn(age, said)

    def test_last_use_is_the_end_of_the_last_box(self):
        place, instance = self.start()
        os.utime(instance / "instance.lock", (0, 0))
        self.box("sleep 1.2", cwd=place)
        self.assertLess(abs(self.row(instance)["last_use"] - time.time()), 1.1)

    def test_worktrees_share_an_instance(self):
        main = self.repository(self.home / "main")
        self.git("worktree", "add", "-q", "-b", "topic", self.home / "linked", cwd=main)
        self.box("true", cwd=main)
        self.box("true", cwd=self.home / "linked")
        self.assertEqual([row["root"] for row in self.list()], [str(main)])

    def test_paths_with_unusual_bytes(self):
        """A path can contain any bytes. None of them can add a line or a control sequence to the list."""
        for name in (b"a\nb", b"\xff\xfe", b"\x1b[31m", "é ,x".encode()):
            place = pathlib.Path(os.fsdecode(os.fsencode(self.home) + b"/" + name))
            place.mkdir()
            self.box("true", cwd=place)
            self.assertEqual(self.row(self.all / id_of(place))["project"], "there")
            said = self.claudebox("--instances").stdout
            self.assertNotIn("\x1b", said)
            self.assertNotRegex(said, r"(?m)^b$")
            place.rmdir()
            self.assertEqual(self.row(self.all / id_of(place))["project"], "gone")
        self.gc()
        self.assertEqual(self.list(), [])

    def test_listing_changes_nothing(self):
        self.start()
        self.gone()
        before = tree(self.home)
        for arguments in (("--instances",), ("--instances=json",), ("--gc", "--dry-run"), ("--dry-run", "--gc"), ("--gc", "--dry-run=json")):
            self.assertEqual(self.claudebox(*arguments).returncode, 0)
        self.assertEqual(tree(self.home), before)

    def test_in_a_deleted_working_directory(self):
        instance = self.gone()
        script = 'mkdir x && cd x && rmdir ../x && exec "$0" --gc --yes'
        done = subprocess.run(["sh", "-c", script, CLAUDEBOX], cwd=self.home, env=self.env, capture_output=True, text=True, check=False, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(instance.exists())

    def test_lines_fit_the_terminal(self):
        self.gone("x" * 150)
        place, _ = self.start("a-project-with-a-name")
        for columns in (40, 60, 80, 200):
            for arguments in (("--instances",), ("--gc", "--dry-run")):
                done = subprocess.run(["script", "-qec", f"stty cols {columns}; exec {CLAUDEBOX} {' '.join(arguments)}", "/dev/null"], cwd=place,
                                      env=self.env | {"NO_COLOR": "1"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=30)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertLessEqual(max(len(line.rstrip("\r")) for line in done.stdout.split("\n")), columns, done.stdout)

    def test_usage_errors(self):
        for arguments in (("--gc", "x"), ("--instances", "--shell"), ("--gc=json",), ("--instances=xml",), ("--gc", "--exec", "true"),
                          ("--instance", "x"), ("--gc", "--instance"), ("--dry-run", "--instance", ".")):
            self.refused(*arguments, status=2)


class Collection(InstancesTest):
    def test_only_instances_of_deleted_projects_are_removed(self):
        _, kept = self.start()
        gone = [self.gone(name) for name in ("gone-1", "gone-2")]
        before = tree(kept)
        said = self.gc()
        self.assertIn("~/gone-1", said)
        self.assertIn("Removed 2 instances", said)
        self.assertEqual([instance.exists() for instance in gone], [False, False])
        self.assertEqual(tree(kept), before)
        self.assertEqual(sorted(os.listdir(self.all)), [kept.name])

    def test_no_terminal_and_no_yes_is_an_error(self):
        instance = self.gone()
        said = self.claudebox("--gc")
        self.assertEqual((said.returncode, said.stdout), (125, ""))
        self.assertRegex(said.stderr, "(?m)^hint: .*--yes")
        self.assertTrue(instance.exists())

    def test_nothing_to_remove_asks_nothing(self):
        self.start()
        self.assertIn("Nothing to remove; 1 instance.", self.claudebox("--gc").stdout)

    def test_json_lists_removable_instances(self):
        self.start()
        instance = self.gone()
        rows = json.loads(self.gc("--dry-run=json"))["instances"]
        self.assertEqual([(row["id"], row["removable"]) for row in rows], [(instance.name, True)])

    def test_an_instance_in_use_is_kept(self):
        place, instance = self.start("running")
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "echo up; sleep 30"], cwd=place, env=self.env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        try:
            self.assertEqual(process.stdout.readline(), b"up\n")
            self.assertTrue(self.row(instance)["in_use"])
            place.rename(self.home / "elsewhere")
            self.assertFalse(self.row(instance)["removable"])
            self.assertIn("in use now", self.gc())
            self.assertTrue(instance.exists())
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        # A killed supervisor keeps no lock.
        self.assertTrue(until(lambda: not self.row(instance)["in_use"]))
        self.gc()
        self.assertFalse(instance.exists())

    def test_the_instance_of_a_restored_project_is_kept(self):
        instance = self.gone("back")
        (self.home / "back").mkdir()
        self.gc()
        self.assertTrue(instance.exists())

    def test_an_interrupted_removal_is_finished(self):
        instance = self.gone("gone", "mkdir -p ~/.claude/a/b/c; echo x >~/.claude/a/b/c/d")
        left = instance.with_name(f".removing-{instance.name}")
        instance.rename(left)
        self.assertIn("To finish: 1 removal", self.gc("--dry-run"))
        self.assertTrue(left.exists())
        self.assertEqual(self.list(), [])
        self.gc()
        self.assertEqual(os.listdir(self.all), [])

    def test_killed_at_any_moment(self):
        for delay in (0.002, 0.005, 0.01, 0.02, 0.04):
            self.gone("gone", "for i in 1 2 3 4 5 6 7 8; do mkdir -p ~/.claude/$i/a/b/c; touch ~/.claude/$i/a/$(seq -s ' '  300 | tr ' ' x); "
                              "for k in $(seq 100); do : >~/.claude/$i/a/b/$k; done; done")
            process = subprocess.Popen([CLAUDEBOX, "--gc", "--yes"], cwd=self.project, env=self.env, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.kill()
            process.wait()
            # Its lookup process may survive, and keeps the lock until it has closed the inherited descriptors.
            self.assertTrue(until(lambda: self.gc() and not os.listdir(self.all)), delay)

    def test_concurrent_runs(self):
        for i in range(6):
            self.gone(f"gone-{i}", "for k in $(seq 200); do mkdir -p ~/.claude/d/$k/x; done")
        runs = [subprocess.Popen([CLAUDEBOX, "--gc", "--yes"], cwd=self.project, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for _ in range(3)]
        said = [run.communicate(timeout=60) for run in runs]
        self.assertEqual([run.returncode for run in runs], [0, 0, 0], said)
        self.assertEqual(os.listdir(self.all), [])

    def test_a_start_during_a_removal(self):
        """The box has the old instance or a new one, whichever of the two comes first."""
        place = self.home / "beside"
        for _ in range(5):
            self.gone("beside", "for k in $(seq 300); do mkdir -p ~/.claude/d/$k/x; done")
            run = subprocess.Popen([CLAUDEBOX, "--gc", "--yes"], cwd=self.project, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            place.mkdir()
            self.assertEqual(self.box("echo up; ls ~/.claude/.claude.json", cwd=place).split("\n")[0], "up")
            run.wait()
            self.assertTrue((self.all / id_of(place) / "instance.json").exists())


class Kept(InstancesTest):
    def kept(self, instance, why):
        row = self.row(instance)
        self.assertEqual((row["project"], row["removable"]), ("unreachable", False))
        self.assertRegex(row["why"], why)
        said = self.gc()
        self.assertRegex(" ".join(said.split()), why)
        self.assertTrue(instance.exists())

    def test_an_unmounted_file_system(self):
        (self.home / "mnt").mkdir()
        instance = self.gone("mnt/usb/project")
        self.record(instance, mount_point=str(self.home / "mnt/usb"))
        self.kept(instance, r"not mounted \(.*/mnt/usb\)")
        (self.home / "mnt/usb").rmdir()
        self.kept(instance, "not mounted")

    def test_another_file_system_at_the_mount_point(self):
        instance = self.gone()
        record = json.loads((instance / "instance.json").read_text())
        self.assertIn("mount_point", record)
        self.record(instance, file_system="0123456789abcdef")
        self.kept(instance, "another file system is mounted at")

    def mounted(self, script):
        """Runs a script in a mount namespace; returns its output."""
        done = subprocess.run(["unshare", "-Urm", "sh", "-ec", script, CLAUDEBOX], cwd=self.home, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_a_real_mount(self):
        (self.home / "mnt").mkdir()
        out = self.mounted('mount -t tmpfs tmpfs mnt; mkdir mnt/p; cd mnt/p; "$0" --yes --exec true; cd ../..; rmdir mnt/p; "$0" --instances=json')
        row, = json.loads(out)["instances"]
        self.assertEqual((row["root"], row["project"]), (str(self.home / "mnt/p"), "gone"))
        self.kept(self.all / row["id"], "not mounted")

    def test_a_mount_in_an_instance_is_not_entered(self):
        victim = self.home / "victim"
        (victim / "d").mkdir(parents=True)
        (victim / "d" / "file").write_text("x")
        before = tree(victim)
        for i, place in enumerate(("claude", "claude/a/b", ".")):
            instance = self.gone(f"gone-{i}", "mkdir -p ~/.claude/a/b")
            self.mounted(f'mount --bind victim {instance}/{place}; "$0" --gc --yes || :; ls victim/d/file')
            self.gc()
            self.assertEqual(os.listdir(self.all), [])
        self.assertEqual(tree(victim), before)

    def test_a_record_without_a_mount_point(self):
        """Early versions wrote no mount point. Then the parent directory must exist and have entries."""
        instance = self.gone("above/gone")
        self.record(instance, mount_point=None, file_system=None)
        self.kept(instance, "missing or empty")
        (self.home / "above").rmdir()
        self.kept(instance, "missing or empty")
        (self.home / "above").mkdir()
        (self.home / "above" / "other").mkdir()
        self.assertTrue(self.row(instance)["removable"])

    def test_a_project_in_an_unreadable_directory(self):
        if os.getuid() == 0:
            return  # root can read every directory
        instance = self.gone("closed/project")
        (self.home / "closed").chmod(0)
        self.addCleanup((self.home / "closed").chmod, 0o700)
        self.kept(instance, "Permission denied")

    def test_a_record_that_names_another_project(self):
        instance = self.gone()
        self.record(instance, root="/nowhere/else")
        row = self.row(instance)
        self.assertEqual((row["project"], row["root"], row["removable"]), ("unknown", None, False))
        self.gc()
        (instance / "instance.json").unlink()
        self.gc()
        self.assertTrue(instance.exists())

    def test_other_entries_are_never_removed(self):
        self.start()
        for name in ("notes", ".hidden", "0123456789abcdef0", "0123456789ABCDEF", ".removing-x"):
            (self.all / name).mkdir()
            (self.all / name / "file").write_text("x")
        (self.all / "0123456789abcde1").symlink_to(self.project)
        (self.all / ".removing-0123456789abcde2").symlink_to(self.project)
        (self.project / "mine").write_text("x")
        before = tree(self.home)
        self.claudebox("--gc", "--yes")
        self.assertEqual(tree(self.home), before)

    def test_links_are_not_followed(self):
        victim = self.home / "victim"
        victim.mkdir()
        (victim / "file").write_text("x")
        before = tree(victim)
        self.gone("gone", f"cd ~/.claude; ln -s {victim} a; ln -s {victim}/file b; mkdir d; ln -s {victim} d/e; ln -s / d/root; ln -s .. d/up")
        self.gc()
        self.assertEqual(tree(victim), before)
        self.assertEqual(os.listdir(self.all), [])

    def test_a_link_in_place_of_instances_is_refused(self):
        self.gone()
        self.all.rename(self.home / "moved")
        self.all.symlink_to(self.home / "moved")
        before = tree(self.home)
        self.assertEqual(self.claudebox("--gc", "--yes").returncode, 125)
        self.assertEqual(tree(self.home), before)


class Traps(InstancesTest):
    """Content that a box can create to make the removal fail."""

    def removed(self, script, **options):
        self.gone("gone", script)
        started = time.monotonic()
        self.gc(**options)
        self.assertEqual(os.listdir(self.all), [])
        return time.monotonic() - started

    def test_directories_without_permissions(self):
        self.removed("cd ~/.claude; mkdir -p a/b/c d/e; touch a/b/c/f a/f d/e/f; chmod 0 a/b/c/f; chmod 0 a/b/c; chmod 500 a/b; chmod 0 a; chmod 500 d/e; "
                     "chmod 300 d; chmod 0 .")

    def test_deep_directories(self):
        deep = "import os; os.chdir(os.path.expanduser('~/.claude'))\nfor i in range(6000):\n os.mkdir('d' * 200); os.chdir('d' * 200)\nopen('f', 'w')"
        self.assertLess(self.removed(f'python3 -c "{deep}"'), 30)

    def test_many_files(self):
        many = "import os; os.chdir(os.path.expanduser('~/.claude'))\nfor i in range(30):\n os.mkdir(str(i))\n for k in range(1000): os.mknod(f'{i}/{k}')"
        self.removed(f'python3 -c "{many}"')

    def test_every_kind_of_file(self):
        self.removed("cd ~/.claude; mkfifo p; ln -s nowhere l; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'; ln p q; mkdir d; "
                     "touch '.claudebox-removing-1-0'; mkdir -p .claudebox-removing-1-1/x")

    def test_names_that_claudebox_uses(self):
        self.removed("cd ~/.claude; for i in $(seq 20); do mkdir -p .claudebox-removing-$i-$i/.claudebox-removing-$i-$i/x; done")

    def test_a_failed_removal_is_reported(self):
        if os.getuid():
            return  # only root can create immutable files
        instance = self.gone("gone", "mkdir ~/.claude/d; touch ~/.claude/d/f")
        file = instance / "claude" / "d" / "f"
        if subprocess.run(["chattr", "+i", file], stderr=subprocess.DEVNULL, check=False).returncode:
            return  # the file system has no immutable files
        try:
            self.assertRegex(self.gc(status=1), "(?m)^claudebox: cannot remove all of .*\nhint: ")
        finally:
            for left in self.all.rglob("f"):
                subprocess.run(["chattr", "-i", left], check=True)
        self.gc()
        self.assertEqual(os.listdir(self.all), [])


class Question(OnTerminal, InstancesTest):
    def test_answering_no_and_yes(self):
        instance = self.gone()
        terminal = self.open(CLAUDEBOX, "--gc")
        terminal.expect(r"Permanently remove 1 instance \(.* kB\)\? \[y/N\]")
        terminal.send("\n")
        self.assertEqual(terminal.wait(), 125)
        self.assertIn(b"nothing was removed", terminal.output)
        self.assertTrue(instance.exists())
        terminal = self.open(CLAUDEBOX, "--gc")
        terminal.expect(r"\[y/N\]")
        terminal.send("y\n")
        terminal.expect("Removed 1 instance, ")
        self.assertEqual(terminal.wait(), 0)
        self.assertFalse(instance.exists())


if __name__ == "__main__":
    unittest.main()
