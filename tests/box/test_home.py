# SPDX-License-Identifier: MIT
"""The kept home: what persists, what a session can leave for the next one, and what never leaves it."""
import os
import pathlib
import threading

from lib.box import BoxTest, tree
from lib.caller import exchange
from lib.stress import STRESS

AS_ROOT = True


class HomeTest(BoxTest):
    def instance(self, project=None):
        """The instance of a project, by the plan."""
        return pathlib.Path(self.plan("--exec", "true", cwd=project)["instance"])

    def other(self, name="other"):
        path = self.home / name
        path.mkdir()
        return path


class Kept(HomeTest):
    def test_files_persist_for_this_project_only(self):
        other = self.other()
        self.box("echo kept >~/.note; mkdir -p ~/.cache/tool; echo x >~/.cache/tool/y")
        self.assertEqual(self.box("cat ~/.note ~/.cache/tool/y"), "kept\nx\n")
        self.assertEqual(self.box("ls -A ~ | grep note", cwd=other), "")
        self.assertEqual((self.instance() / "home" / ".note").read_text(), "kept\n")
        self.assertEqual((self.instance() / "home").stat().st_mode & 0o777, 0o700)

    def test_the_host_does_not_have_them(self):
        before = sorted(os.listdir(self.home))
        self.box("echo x >~/planted; mkdir -p ~/.config; echo x >~/.config/planted")
        self.assertEqual(sorted(os.listdir(self.home)), sorted({*before, ".claudebox"}))

    def test_mounts_in_it_are_the_same_as_in_an_empty_home(self):
        """Points are made for the project, ~/.claude and requested mounts, at any depth."""
        notes = self.home / "notes" / "deep"
        notes.mkdir(parents=True)
        (notes / "a").write_text("note\n")
        (self.home / "one.txt").write_text("one\n")
        script = "cat ~/x/y/notes/a ~/x/one; echo written >~/x/y/notes/b; echo s >~/.claude/s; echo p >p; pwd"
        for home in ("project", "shared", "none"):
            self.profile(home=home)
            done = self.claudebox("--yes", f"--mount-rw={notes}:{self.home}/x/y/notes", f"--mount-ro={self.home}/one.txt:{self.home}/x/one",
                                  "--exec", "sh", "-c", script)
            self.assertEqual((done.returncode, done.stdout), (0, f"note\none\n{self.project}\n"), (home, done.stderr))
            self.assertEqual((notes / "b").read_text(), "written\n")
            self.assertEqual((self.project / "p").read_text(), "p\n")
            self.assertEqual((self.instance() / "claude" / "s").read_text(), "s\n")
            for path in (notes / "b", self.project / "p", self.instance() / "claude" / "s"):
                path.unlink()
