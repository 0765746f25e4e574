# SPDX-License-Identifier: MIT
"""A directory of the table without a file is watched like one that does not exist, and what the guard leaves empty is removed."""
import os

from box.test_guard import GuardTest
from lib.box import unless

AS_ROOT = True

DIRECTORIES = (".claude/commands", ".claude/hooks", ".vscode", ".idea", ".husky", "packages/a/.claude/agents", "packages/a/.mvn")


class Empty(GuardTest):
    WRITE = "for d in " + " ".join(DIRECTORIES) + "; do mkdir -p $d/sub && echo x >$d/x.md && echo x >$d/sub/y.md || echo refused $d; done; sleep 0.5"
    MOVED = sorted(f"{directory}/{name}" for directory in DIRECTORIES for name in ("x.md", "sub/y.md"))

    def make(self):
        for directory in DIRECTORIES:
            (self.project / directory / "inner/deep").mkdir(parents=True)

    def test_each_session_moves_a_file_with_a_line(self):
        """The directory exists in the second session, and is the user's in the third."""
        for session in range(3):
            done = self.claudebox("--yes", "--exec", "sh", "-c", "mkdir -p .claude/commands; echo x >.claude/commands/x.md || echo refused; sleep 0.3")
            self.assertEqual(done.stdout, "", session)
            self.assertIn("guard: moved to quarantine: ~/project/.claude/commands/x.md", done.stderr, session)
            (self.project / ".claude/commands").mkdir(parents=True, exist_ok=True)
        self.assertEqual(self.quarantine(), [".claude/commands/x.md"] * 3)

    def test_files_in_empty_directories_are_moved_at_any_depth(self):
        self.make()
        places = [place["path"] for place in self.plan()["guard"]["places"]]
        self.assertFalse([path for path in places if "/.git" not in path])
        self.assertEqual(self.box(self.WRITE), "")
        self.assertEqual(self.quarantine(), self.MOVED)
        for directory in DIRECTORIES:
            left = [os.path.join(where, name) for where, _, names in os.walk(self.project / directory) for name in names]
            self.assertEqual(left, [])

    def test_directories_of_the_user_stay_and_those_of_the_box_are_removed(self):
        self.make()
        self.box(self.WRITE)
        for directory in DIRECTORIES:
            self.assertTrue((self.project / directory / "inner/deep").is_dir(), directory)
            self.assertFalse((self.project / directory / "sub").exists(), directory)

    def test_one_file_of_any_kind_makes_the_directory_read_only(self):
        for index, create in enumerate((lambda path: path.write_text(""), lambda path: path.symlink_to("/nowhere"), os.mkfifo)):
            for directory in (".vscode", "packages/a/.mvn"):
                inner = self.project / directory / f"d{index}"
                inner.mkdir(parents=True)
                create(inner / "file")
                out = self.box(f"echo x >{directory}/x || echo refused; mv {directory} away || echo pinned; sleep 0.2")
                self.assertEqual(out, "refused\npinned\n")
                (inner / "file").unlink()
        self.assertEqual(self.quarantine(), [])

    @unless(os.geteuid() == 0)  # root reads every directory
    def test_a_directory_that_cannot_be_read_is_read_only(self):
        (self.project / ".vscode/closed").mkdir(parents=True)
        (self.project / ".vscode/closed").chmod(0)
        self.assertEqual(self.box("echo x >.vscode/x || echo refused"), "refused\n")

    def test_hooks_and_requested_packages_are_read_only_without_a_file(self):
        hooks = self.project / ".git/hooks"
        for sample in hooks.iterdir():
            sample.unlink()
        self.assertEqual(self.box("echo x >.git/hooks/pre-commit || echo refused"), "refused\n")
        (self.project / ".claudebox").mkdir()
        self.assertEqual(self.box("echo x >.claudebox/tools.txt || echo refused"), "refused\n")
        self.git("config", "core.hooksPath", "tools/hooks")
        (self.project / "tools/hooks").mkdir(parents=True)
        self.assertEqual(self.box("echo x >tools/hooks/pre-commit || echo refused"), "refused\n")
        self.assertEqual(self.quarantine(), [])

    def test_the_target_of_a_link_is_read_only_without_a_file(self):
        """Its own name is none of the table, so new files in it would not be found."""
        (self.project / "conf/commands").mkdir(parents=True)
        (self.project / ".vscode").symlink_to("conf")
        (self.project / ".claude").symlink_to("conf")
        self.assertEqual(self.box("echo x >conf/tasks.json || echo 1; echo x >conf/commands/x.md || echo 2"), "1\n2\n")

    def test_a_prepared_directory_in_place_of_an_empty_one(self):
        (self.project / ".vscode").mkdir()
        self.box("mkdir prepared; echo x >prepared/tasks.json")
        self.box("python3 -c 'import os; os.rename(\"prepared\", \".vscode\")'; sleep 0.4")
        self.assertEqual(self.quarantine(), [".vscode/tasks.json"])
        self.assertFalse((self.project / ".vscode/tasks.json").exists())


class Emptied(GuardTest):
    def test_new_directories_around_moved_files_are_removed(self):
        self.box("mkdir -p .claude/commands/a .claude/agents sub/x/.cargo keep/.cargo; for f in .claude/commands/a/x.md .claude/commands/y.md .claude/agents/z.md "
                 "sub/x/.cargo/config.toml keep/.cargo/config.toml; do echo x >$f; done; echo x >keep/source; mkdir untouched; sleep 0.5")
        self.assertEqual(len(self.quarantine()), 5)
        self.assertEqual(sorted(os.listdir(self.project)), [".git", "file.txt", "keep", "untouched"])
        self.assertEqual(os.listdir(self.project / "keep"), ["source"])

    def test_a_directory_of_the_user_stays_under_another_name(self):
        (self.project / "mine").mkdir()
        self.box("mv mine .vscode; echo x >.vscode/tasks.json; sleep 0.4")
        self.assertEqual(self.quarantine(), [".vscode/tasks.json"])
        self.assertEqual(os.listdir(self.project / ".vscode"), [])

    def test_a_directory_that_is_not_writable(self):
        self.box("mkdir -p sub/.vscode .vscode/a; echo x >.vscode/a/x; chmod 555 .vscode; sleep 0.4")
        self.assertEqual(self.quarantine(), [".vscode/a/x"])
        self.assertFalse((self.project / ".vscode").exists())

    def test_an_item_is_put_back_with_its_directories(self):
        self.box("mkdir -p .claude/commands; echo mine >.claude/commands/x.md; sleep 0.4")
        self.assertFalse((self.project / ".claude").exists())
        done = self.claudebox("--quarantine=1", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.project / ".claude/commands/x.md").read_text(), "mine\n")
        self.assertEqual(self.quarantine(), [])
