# SPDX-License-Identifier: MIT
"""What --diff and --undo say: which session they mean, what is left, and what comes next."""
from lib.box import BoxTest


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
