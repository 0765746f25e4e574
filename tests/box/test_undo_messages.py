# SPDX-License-Identifier: MIT
"""What --diff and --undo say: which session they mean, what is left, and what comes next."""
from lib.box import BoxTest, CLAUDEBOX
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
