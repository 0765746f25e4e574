# SPDX-License-Identifier: MIT
"""What the guard does while a box starts: which directories it watches first, and which copies it uses again."""
import os
import pathlib
import subprocess

from box.test_kills import family
from lib.box import CLAUDEBOX, BoxTest, until
from lib.inet import name_of

AS_ROOT = True
DIRECTORIES = 1000


def watched(pid):
    """Returns the number of the watch of each inode that a process watches. A later one has a higher number."""
    text = ""
    for path in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            text += path.read_text()
        except OSError:  # closed meanwhile
            pass
    words = [dict(word.split(":", 1) for word in line.split()[1:]) for line in text.splitlines() if line.startswith("inotify ")]
    return {int(word["ino"], 16): int(word["wd"], 16) for word in words}


class Start(BoxTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)

    def test_git_directories_are_watched_before_the_others_of_a_large_project(self):
        for number in range(DIRECTORIES):
            (self.project / f"d{number // 50}/e{number % 50}").mkdir(parents=True)
        module = self.project / ".git/modules/deep/module"
        module.parent.mkdir(parents=True)
        self.git("init", "-q", "--separate-git-dir", module, self.project / "sub")
        if os.getuid():  # the guard hides what it watches from its user
            return
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "echo x; read line"], cwd=self.project, env=self.env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "x\n")
        guard = next(pid for pid in family(process.pid) if name_of(pid) == "claudebox-guard")
        others = [path.stat().st_ino for path in self.project.glob("d*")]
        self.assertTrue(until(lambda: set(others) <= set(watched(guard))))
        numbers = watched(guard)
        process.communicate("\n", timeout=30)
        for path in (self.project, self.project / ".git", module):
            self.assertLess(numbers[path.stat().st_ino], min(numbers[inode] for inode in others), path)


class Copies(BoxTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)

    def kept(self):
        """Returns the kept copies, each with its inode and text."""
        files = sorted(self.home.glob(".claudebox/instances/*/git-config.spare/*"))
        return [(os.lstat(path).st_ino, path.read_text()) for path in files]

    def in_box(self, script):
        done = self.claudebox("--yes", "--exec", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_copy_that_the_box_has_not_changed_is_used_again(self):
        text = (self.project / ".git/config").read_text()
        self.in_box(":")
        [(inode, kept)] = self.kept()
        self.assertEqual(kept, text)
        self.assertEqual(self.in_box("stat -c %i /run/claudebox/git-config/0"), f"{inode}\n")
        self.assertEqual(self.kept(), [(inode, text)])

    def test_a_copy_that_is_used_again_has_the_changes_of_the_host(self):
        self.in_box(":")
        self.git("config", "user.name", "Later")
        self.assertEqual(self.in_box("git config --local user.name"), "Later\n")

    def test_what_the_box_has_made_of_its_copy_is_not_kept(self):
        copy = "/run/claudebox/git-config/0"
        for script in (f"git config user.name {'x' * 40}", f"ln {copy} {copy}.other", f"chmod 666 {copy}", f"mv {copy} {copy}.old; ln -s {copy}.old {copy}",
                       f"rm {copy}; mkdir {copy}"):
            with self.subTest(script):
                self.in_box(script)
                self.assertEqual(self.kept(), [])
                self.in_box(":")
                self.assertEqual(len(self.kept()), 1)

    def test_two_boxes_have_copies_of_their_own(self):
        self.in_box(":")
        first = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "stat -c %i /run/claudebox/git-config/0; read line"], cwd=self.project,
                                 env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        inode = first.stdout.readline()
        self.assertTrue(inode.strip())
        self.assertNotEqual(self.in_box("stat -c %i /run/claudebox/git-config/0"), inode)
        first.communicate("\n", timeout=30)


class Reftable(BoxTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)
        git = self.project / ".git"
        self.git("config", "core.repositoryFormatVersion", "1")
        self.git("config", "extensions.refStorage", "reftable")
        (git / "reftable").mkdir()
        (git / "reftable/tables.list").write_text("")
        (git / "HEAD").write_text("ref: refs/heads/.invalid\n")

    def test_git_decides_whether_it_can_read_references_in_tables(self):
        outside = subprocess.run(["git", "status"], cwd=self.project, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        done = self.claudebox("--yes", "--exec", "git", "status")
        self.assertEqual((done.returncode, done.stdout), (outside.returncode, outside.stdout))
        self.assertTrue(done.stderr.endswith(outside.stderr), done.stderr)

    def test_the_places_of_the_repository_are_protected(self):
        done = self.claudebox("--yes", "--exec", "sh", "-c", "echo true >.git/hooks/pre-commit; git config core.fsmonitor x; "
                                                             "ln -s ../config .git/reftable/x; sleep 0.3; test -L .git/reftable/x && echo there")
        self.assertEqual(done.stdout, "")
        self.assertIn("Read-only file system", done.stderr)
        self.assertFalse((self.project / ".git/hooks/pre-commit").exists())
        self.assertNotIn("fsmonitor", (self.project / ".git/config").read_text())


class Migration(BoxTest):
    def test_the_format_is_changed_only_in_repositories_of_the_box(self):
        self.repository(self.project)
        done = self.claudebox("--yes", "--exec", "sh", "-c", "git refs migrate --ref-format=reftable; echo $?; git init -q new; git -C new refs migrate 2>&1")
        self.assertEqual(done.stdout.splitlines()[0], "128")
        self.assertIn("run 'git refs migrate' outside of the box", done.stderr)
        self.assertNotIn("claudebox:", done.stdout)
