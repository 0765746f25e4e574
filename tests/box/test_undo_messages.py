# SPDX-License-Identifier: MIT
"""What --diff and --undo say: which session they mean, what is left, and what comes next."""
import json
import subprocess
import time

from lib.box import BoxTest, CLAUDEBOX, until
from lib.on_terminal import OnTerminal


class MessageTest(BoxTest):
    def run_box(self, script, *arguments, **options):
        """Runs a script in the box; returns what claudebox printed."""
        done = self.claudebox("--yes", "--exec", "sh", "-c", script, "sh", *arguments, **options)
        self.assertNotEqual(done.returncode, 125, done.stderr)
        return done.stderr

    def undo(self, *arguments, status=0, **options):
        done = self.claudebox("--undo", *arguments, "--yes", **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return " ".join((done.stdout + done.stderr).split())

    def write(self, **files):
        for name, text in files.items():
            (self.project / name).write_text(text)

    def read(self, *names):
        return [(self.project / name).read_text() for name in names]


class Next(MessageTest):
    def test_the_next_undo_is_the_one_that_is_announced(self):
        self.write(a="old\n", b="old\n")
        self.run_box("echo new >a; echo new >b")
        self.assertIn("The next claudebox --undo takes back the rest; `claudebox --undo a` takes back this undo.", self.undo("a"))
        self.undo("a")
        self.assertEqual(self.read("a", "b"), ["new\n", "new\n"])
        self.assertIn("takes back the rest; `claudebox --undo ./a` takes back this undo.", self.undo("./a"))
        self.undo()
        self.assertEqual(self.read("a", "b"), ["old\n", "old\n"])

    def test_without_a_rest_the_next_undo_takes_back_this_one(self):
        self.write(a="old\n")
        self.run_box("echo new >a")
        self.assertIn("Took back 1 file. The next claudebox --undo takes back this undo.", self.undo("a"))
        self.assertIn("Took back 1 file. The next claudebox --undo takes back this undo.", self.undo())
        self.assertEqual(self.read("a"), ["new\n"])


class Unsaved(MessageTest, OnTerminal):
    SENTENCE = r"The last session \(\d{4}-\d\d-\d\d \d\d:\d\d\) was not saved: this is the one before it\."

    def test_a_session_that_was_not_saved_is_named(self):
        self.write(f="old\n")
        self.run_box("echo new >f")
        self.profile(undo="off")
        self.run_box("echo bad >bad")
        for words in (["--diff"], ["--diff=stat"]):
            done = self.claudebox(*words)
            self.assertRegex(" ".join(done.stderr.split()), self.SENTENCE)
            self.assertNotIn("was not saved", done.stdout)
        self.assertRegex(" ".join(self.claudebox("--undo", "--dry-run").stdout.split()), self.SENTENCE)
        self.assertRegex(self.undo(), self.SENTENCE)
        self.assertEqual(self.read("f", "bad"), ["old\n", "bad\n"])
        self.assertNotIn("was not saved: this", self.undo())  # takes back the undo
        self.profile()
        self.run_box("echo newer >f")
        self.assertNotIn("was not saved: this", self.undo())

    def test_on_a_terminal_it_is_the_first_line_of_the_difference(self):
        self.write(f="old\n")
        self.run_box("echo new >f")
        self.profile(undo="off")
        self.run_box("true")
        for option in ("--diff", "--diff=stat"):
            terminal = self.open(CLAUDEBOX, option, env={"PAGER": "cat", "NO_COLOR": "1"}, columns=120)
            terminal.expect("is the one before it")
            terminal.expect("insertion" if "stat" in option else r"\+new")
            self.assertRegex(bytes(terminal.output).decode(), "^" + self.SENTENCE)

    def test_a_snapshot_that_failed_is_named(self):
        self.write(f="old\n")
        self.run_box("echo new >f")
        store = next((self.home / ".claudebox/instances").glob("*/snapshots/*"))
        (store / "index").write_text("damaged\n")
        self.assertIn("cannot be undone", self.run_box("echo bad >bad"))
        (store / "index").unlink()
        self.assertRegex(" ".join(self.claudebox("--diff").stderr.split()), self.SENTENCE)

    def test_the_first_session_was_not_saved(self):
        self.profile(undo="off")
        self.run_box("echo new >f")
        for option in ("--undo", "--diff"):
            self.assertRegex(self.refused(option, "--yes"), r"the last session \([^)]+\) was not saved, and no earlier one of")

    def test_a_session_that_can_change_nothing_does_not_count(self):
        self.run_box("echo new >f")
        self.profile(project="read-only")
        self.run_box("true")
        self.assertNotIn("was not saved: this", self.undo())


class Ignored(MessageTest):
    SENTENCE = "Files that git ignores were not saved"

    def setUp(self):
        super().setUp()
        self.profile("all", undo_ignored=True)
        self.repository(self.project)
        self.write(**{".gitignore": "*.env\n", "x.env": "old\n", "y.env": "old\n"})

    def test_whether_ignored_files_were_saved_is_known_without_the_profile(self):
        self.claudebox("--yes", "--profile", "all", "--exec", "sh", "-c", "echo new >x.env; rm y.env; echo n >n.env")
        after = sorted(path.name for path in self.project.iterdir())
        for i in range(2):
            text = self.undo()
            self.assertNotIn(self.SENTENCE, text)
            self.assertEqual((self.read("x.env", "y.env"), (self.project / "n.env").exists()), (["old\n", "old\n"], False))
            self.assertNotIn(self.SENTENCE, self.undo())
            self.assertEqual((self.read("x.env"), sorted(path.name for path in self.project.iterdir())), (["new\n"], after), i)

    def test_a_session_without_them_says_so_with_any_profile(self):
        self.run_box("echo 2 >file.txt")
        self.assertIn(self.SENTENCE, " ".join(self.claudebox("--undo", "--dry-run", "--profile", "all").stdout.split()))
        self.assertIn(self.SENTENCE, self.undo())


class Hidden(MessageTest):
    """Files that a session hides by ignore rules are saved like others."""

    def names(self):
        return sorted(path.relative_to(self.project).as_posix() for path in self.project.rglob("*") if ".git" not in path.parts and path.is_file())

    def check(self, script, hidden, **options):
        """The hidden files are in the report, an undo removes them, and the undo of it brings them back."""
        before = self.names()
        self.run_box(script, **options)
        after = self.names()
        report = json.loads(self.claudebox("--report=json").stdout)
        self.assertLessEqual(set(hidden), {row["path"] for row in report["files"]["list"]})
        self.undo()
        self.assertEqual(self.names(), before)
        self.undo()
        self.assertEqual(self.names(), after)
        self.undo()
        self.assertEqual(self.names(), before)

    def test_in_a_repository_and_without_one(self):
        for repository in (False, True):
            if repository:
                self.repository(self.project)
            self.check("echo 'hidden*' >.gitignore; echo evil >hidden.py", [".gitignore", "hidden.py"])
            self.check("echo '*' >.gitignore; echo evil >x.py; mkdir d; echo evil >d/conftest.py", ["x.py", "d/conftest.py"])
            self.check("mkdir d; echo '*' >d/.gitignore; echo evil >d/conftest.py", ["d/conftest.py"])
            self.check("mkdir -p d/e; echo d/ >.gitignore; echo evil >d/e/Makefile", ["d/e/Makefile"])

    def test_what_the_start_ignored_stays_ignored(self):
        self.repository(self.project)
        self.write(**{".gitignore": "*.log\nbuild/\n"})
        for name in ("build/out", "own/.gitignore", "own/mine", "x.log"):
            (self.project / name).parent.mkdir(exist_ok=True)
            (self.project / name).write_text("*\n")
        time.sleep(0.05)
        self.run_box("echo new/ >>.gitignore; mkdir new; echo a >new/a.log; echo b >new/b; echo c >build/c; echo d >own/d; echo e >e.log; "
                     "mkdir node_modules .pytest_cache; echo x >node_modules/x; echo '*' >.pytest_cache/.gitignore; echo y >.pytest_cache/y; "
                     "echo node_modules >>.gitignore")
        report = json.loads(self.claudebox("--report=json").stdout)
        self.assertEqual(sorted(row["path"] for row in report["files"]["list"]), [".gitignore", "new/b"])
        self.undo()
        self.assertTrue({"new/a.log", "build/c", "own/d", "e.log", "build/out", "own/mine", "x.log"} < set(self.names()))
        self.assertNotIn("new/b", self.names())

    def test_files_of_the_user_that_a_new_rule_shows_stay(self):
        self.repository(self.project)
        self.write(**{".gitignore": "*.log\n", "mine.log": "mine\n"})
        time.sleep(0.05)
        self.run_box("echo 'theirs*' >.gitignore; echo x >theirs.py")
        self.undo()
        self.assertEqual(self.names(), [".gitignore", "file.txt", "mine.log"])

    def test_more_than_can_be_saved_is_named(self):
        self.repository(self.project)
        self.run_box("echo many/ >.gitignore; mkdir many; cd many; seq 1 2500 | xargs touch; seq 1 9 | xargs -I@ sh -c 'echo x >@'")
        self.assertEqual(json.loads(self.claudebox("--report=json").stdout)["not_saved_paths"], ["many/"])
        self.assertIn("1 path could not be saved, and is not restored: many/", self.undo())

    def test_a_link_in_the_place_of_an_ignore_file_is_not_followed(self):
        self.repository(self.project)
        outside = self.home / "outside"
        outside.mkdir()
        (self.project / ".gitignore").symlink_to(outside)
        (self.project / "d/sub").mkdir(parents=True)
        (self.project / "d/sub/.gitignore").write_text("*\n")
        time.sleep(0.05)
        self.run_box("rm .gitignore; mv d .gitignore; echo '*.py' >.gitignore/sub/x; mkdir e; echo '*' >e/.gitignore; echo x >e/x.py")
        self.assertEqual(list(outside.iterdir()), [])
        self.assertIn("e/x.py", self.claudebox("--diff=stat").stdout)
        # The text of a link is no rule.
        (self.project / "f").mkdir()
        (self.project / "f/.gitignore").symlink_to("*")
        self.run_box("rm f/.gitignore; echo '*' >f/.gitignore; echo x >f/x.py")
        self.assertIn("f/x.py", self.claudebox("--diff=stat").stdout)

    def test_of_a_session_that_was_killed(self):
        with subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "echo 'h*' >.gitignore; echo x >h.py; echo on; sleep 20"], cwd=self.project, env=self.env,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            self.assertEqual(process.stdout.readline(), "on\n")
            process.kill()
        self.assertTrue(until(lambda: self.claudebox("--undo", "--yes").returncode == 0))
        self.assertEqual(self.names(), [])


class Paths(MessageTest):
    def test_one_path_that_was_not_changed_is_an_error(self):
        self.write(a="old\n", b="old\n")
        self.run_box("echo new >a; mkdir d1; echo n >d1/f")
        self.run_box("echo new >b")
        self.assertIn("no session has changed 'nope', 'd2'", self.refused("--undo", "d1", "nope", "b", "d2", "--yes"))
        self.assertRegex(self.refused("--undo", "b", "a", "--yes"), r"the session of [^']* has not changed 'a', but the other paths")
        self.refused("--undo=commits", "b", "nope", "--yes")
        for option in ("--diff", "--diff=stat"):
            self.assertIn("the last session has not changed 'nope', 'a'", self.refused(option, "b", "nope", "a"))
        self.assertEqual(self.read("a", "b", "d1/f"), ["new\n", "new\n", "n\n"])
        self.undo("d1", "a")
        self.assertEqual(self.read("a", "b"), ["old\n", "new\n"])


class Elsewhere(MessageTest):
    def check(self, place, named):
        for option in ("--diff", "--undo"):
            self.assertIn(f"hint: sessions were started in '{named}': go there", self.refused(option, "--yes", cwd=place))

    def test_a_directory_above_or_below_is_named(self):
        for repository in (False, True):
            top = self.project / str(repository)
            below = top / "src/deep"
            below.mkdir(parents=True)
            if repository:
                self.repository(top)
            self.run_box("echo new >f", cwd=below)
            self.check(top, f"~/project/{repository}/src/deep")
            (top / "other").mkdir()
            self.assertNotIn("sessions were started", self.refused("--diff", cwd=top / "other"))
            self.run_box("echo new >f", cwd=top)
            self.check(top / "src", f"~/project/{repository}")

    def test_no_directory_outside_of_the_repository(self):
        self.run_box("echo new >f")
        self.repository(self.project / "r")
        self.assertNotIn("sessions were started", self.refused("--diff", cwd=self.project / "r"))


class Screen(MessageTest, OnTerminal):
    def setUp(self):
        super().setUp()
        self.run_box("for i in $(seq 10 35); do echo n >f$i; done")

    def ask(self, rows, columns=80):
        """Returns the lines above the question."""
        terminal = self.open(CLAUDEBOX, "--undo", rows=rows, columns=columns, env={"NO_COLOR": "1"})
        terminal.expect("Take this back")
        terminal.send("n\n")
        terminal.expect("nothing was changed")
        terminal.close()
        return bytes(terminal.output).decode().split("Take this back")[0].splitlines()

    def test_the_heading_and_the_first_rows_stay_on_the_screen(self):
        for rows, columns in ((24, 80), (12, 80), (24, 40)):
            lines = self.ask(rows, columns)
            text = " ".join(" ".join(lines).split())
            self.assertLess(len(lines), rows)
            self.assertIn("delete f12", text)
            self.assertRegex(text, r"and \d+ more: `claudebox --undo --dry-run` lists all")
            shown = sum("delete" in line for line in lines)
            self.assertIn(f"and {26 - shown} more", text)
            self.assertGreaterEqual(len(lines), rows - 3)

    def test_a_list_that_fits_has_all(self):
        text = " ".join(self.ask(40))
        self.assertIn("f35", text)
        self.assertNotIn(" more", text)

    def test_dry_run_lists_all(self):
        text = self.claudebox("--undo", "--dry-run").stdout
        self.assertEqual(text.count("delete"), 26)
        terminal = self.open(CLAUDEBOX, "--undo", "--dry-run", env={"PAGER": "sed s/^/paged:/", "NO_COLOR": "1"})
        terminal.expect("paged: +delete +f35")


class Repository(MessageTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)

    def test_the_lock_of_git_is_explained(self):
        self.run_box("echo 2 >file.txt; git commit -qam two; git add -A")
        (self.project / ".git/index.lock").touch()
        error = self.claudebox("--undo=commits", "--yes").stderr
        self.assertIn("another git is running, or has left its lock", error)
        self.assertIn(f"if no git runs, remove '{self.project}/.git/index.lock'", error)

    def test_a_dropped_stash_comes_back_to_the_list_and_a_new_one_is_named(self):
        self.write(**{"file.txt": "mine\n"})
        self.git("stash", "-q")
        mine = self.git("rev-parse", "stash").strip()
        self.run_box("git stash drop -q; echo 2 >file.txt")
        text = self.undo()
        self.assertIn(f"The session dropped {mine[:7]}: `git stash store {mine[:7]}` brings it back.", text)
        self.assertNotIn("new stash", text)
        self.git("stash", "store", mine[:7])
        self.assertEqual(self.git("rev-parse", "stash").strip(), mine)
        self.run_box("echo 3 >file.txt; git stash -q; echo 4 >file.txt")
        text = self.undo()
        self.assertIn(f"The new stash {self.git('rev-parse', '--short=7', 'stash').strip()} stays", text)
        self.assertNotIn("dropped", text)

    def test_repositories_that_the_session_created_are_named(self):
        self.repository(self.project / "old")
        self.run_box("git init -q fresh; echo x >fresh/x; mkdir -p deep/er; git init -q deep/er; echo y >deep/er/y; mkdir plain; echo z >plain/z; echo n >old/n")
        self.assertIn("Repositories that the session created stay: deep/er/, fresh/", self.undo())
        self.assertEqual([(self.project / name).exists() for name in ("fresh/x", "fresh/.git", "plain", "old/n")], [False, True, False, False])

    def test_the_repository_of_the_project_is_named(self):
        other = self.home / "other"
        other.mkdir()
        self.run_box("git init -q; echo x >x", cwd=other)
        self.assertIn("Repositories that the session created stay: .git", self.undo(cwd=other))


class LeftOut(MessageTest):
    def test_two_paths_are_named_both(self):
        names = ["a" * 38, "b" * 38]
        for name in names:
            with open(self.project / name, "wb") as file:
                file.truncate((256 << 20) + 1)
        self.write(f="old\n")
        self.run_box("echo new >f; mkdir d; echo x >d/x; chmod 0 d")
        self.assertIn(f"2 paths could not be saved, and are not restored: {names[0]}, {names[1]}", self.undo())


class Progress(MessageTest, OnTerminal):
    def test_a_long_undo_counts_its_files_on_a_terminal_only(self):
        self.run_box("mkdir d; cd d; seq 15000 | xargs -n 3000 sh -c 'for i; do echo $i >$i; done' sh")
        self.assertNotIn("of 15000", self.undo())
        terminal = self.open(CLAUDEBOX, "--undo", "--yes")  # brings them back
        match = terminal.expect(r"undo: (\d+) of 15000 files", seconds=60)
        terminal.expect("Took back 15000 files", seconds=60)
        self.assertTrue(0 < int(match[1]) < 15000)
        self.assertLess(bytes(terminal.output).count(b"of 15000 files"), 60)
