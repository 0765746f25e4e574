# SPDX-License-Identifier: MIT
"""Worktrees that lie inside a git directory: the box of one does not have the files of the others."""
import os
import subprocess

from lib.box import BoxTest

AS_ROOT = True
COMMIT = "echo two >>file.txt && git commit -qam second && git log -1 --format=%s"


class Worktrees(BoxTest):
    def bare(self, *names):
        """Creates a bare repository with worktrees inside it, and a file that is not committed in each."""
        source = self.repository(self.home / "source")
        bare = self.home / "repo.git"
        self.git("clone", "-q", "--bare", source, bare, cwd=self.home)
        for name in names:
            self.git("worktree", "add", "-q", "-b", name.replace("/", "-") + "-branch", bare / name, cwd=bare)
            (bare / name / "own.txt").write_text(f"canary of {name}\n")
        return bare

    def run_box(self, script, cwd):
        done = self.claudebox("--yes", "--exec", "sh", "-c", script, cwd=cwd)
        self.assertNotEqual(done.returncode, 125, done.stderr)
        return done.stdout

    def covered(self, cwd):
        return sorted(mount["path"] for mount in self.plan(cwd=cwd)["mounts"]
                      if mount["kind"] == "tmpfs" and str(mount["path"]).startswith(str(self.home) + "/"))

    def test_worktrees_in_a_bare_repository_are_hidden_from_each_other(self):
        bare = self.bare("main", "feature", "team/a", "team/b")
        (bare / "notes").mkdir()
        (bare / "notes/text").write_text("canary of notes\n")
        attack = f"""
        cat own.txt
        cd {bare}
        grep -rs canary . --include=own.txt --include=text
        ls feature notes team
        (echo x >feature/file.txt; echo x >feature/new; touch team/new; mkdir feature/d; echo x >>team/b/file.txt) 2>/dev/null
        mv feature moved; rmdir feature; rm -rf team; mv team objects/t; umount feature
        cd main && git status --porcelain && {COMMIT}
        """
        out = self.run_box(attack, bare / "main")
        self.assertEqual(out, "canary of main\n./main/own.txt:canary of main\nfeature:\n\nnotes:\n\nteam:\n?? own.txt\nsecond\n")
        for name in ("feature", "team/a", "team/b"):
            self.assertEqual(sorted(os.listdir(bare / name)), [".git", "file.txt", "own.txt"])
            self.assertEqual((bare / name / "file.txt").read_text(), "one\n")
            self.assertEqual(self.git("status", "--porcelain", cwd=bare / name), "?? own.txt\n")
        self.assertEqual(self.git("log", "-1", "--format=%s", "main-branch", cwd=bare), "second\n")
        # The directory between the repository and the project cannot be moved with the hidden ones inside.
        out = self.run_box(f"mv {bare}/team {bare}/objects/t 2>/dev/null; ls {bare}/team {bare}/team/b; {COMMIT}", bare / "team/a")
        self.assertEqual(out, f"{bare}/team:\na\nb\n\n{bare}/team/b:\nsecond\n")
        self.assertEqual(self.covered(bare / "team/a"), [str(bare / name) for name in ("feature", "main", "notes", "team/b")])
        screen = self.claudebox("--audit=full", cwd=bare / "main", stdin=subprocess.DEVNULL).stderr
        self.assertIn("hidden: other worktrees", screen)

    def test_a_subdirectory_of_such_a_worktree_is_writable_alone(self):
        bare = self.bare("main")
        sub = bare / "main/sub"
        (sub / ".claudebox").mkdir(parents=True)
        (sub / ".claudebox/tools.txt").write_text("")
        (sub / "file.txt").write_text("one\n")
        self.git("add", "sub/file.txt", cwd=bare / "main")
        self.git("commit", "-qm", "sub", cwd=bare / "main")
        out = self.run_box(f"(echo x >>../file.txt || echo x >.claudebox/tools.txt || echo blocked) 2>/dev/null; {COMMIT}", sub)
        self.assertEqual(out, "blocked\nsecond\n")
        self.assertEqual((bare / "main/file.txt").read_text(), "one\n")

    def test_a_worktree_in_the_git_directory_of_another_one(self):
        main = self.repository(self.home / "main")
        hidden = main / ".git/wt/deep/hidden"
        outside = self.home / "outside"
        self.git("worktree", "add", "-q", "-b", "hidden", hidden, cwd=main)
        self.git("worktree", "add", "-q", "-b", "outside", outside, cwd=main)
        (hidden / "own.txt").write_text("canary")
        (main / ".git/tool").mkdir()
        # An earlier box may have changed git's list: it points to places that must stay as they are.
        for name, target in (("hidden", f"{self.home}/.ssh/.git"), ("p1", f"{main}/.git/objects/.git"), ("p2", f"{main}/.git/.git"),
                             ("p3", f"{self.home}/.git"), ("p4", "../../../.git"), ("p5", "/.git")):
            (main / ".git/worktrees" / name).mkdir(exist_ok=True)
            (main / ".git/worktrees" / name / "gitdir").write_text(target + "\n")
        for name, create in (("p6", os.mkfifo), ("p7", os.mkdir), ("p8", lambda path: path.write_bytes(b"x" * 9999))):
            (main / ".git/worktrees" / name).mkdir()
            create(main / ".git/worktrees" / name / "gitdir")
        self.run_box("true", outside)
        before = sorted(os.listdir(self.home))
        self.assertEqual(self.covered(outside), [str(main / ".git/wt")])
        self.assertEqual(self.run_box(f"ls {main}/.git/wt; echo x >{main}/.git/tool/x; {COMMIT}", outside), "second\n")
        self.assertTrue((main / ".git/tool/x").exists())
        self.assertEqual(sorted(os.listdir(self.home)), before)
        self.assertEqual(self.covered(main), [])

    def test_a_listed_worktree_that_the_search_does_not_reach(self):
        main = self.repository(self.home / "main")
        self.git("worktree", "add", "-q", "-b", "hidden", main / ".git/a/b/c/d/e/hidden", cwd=main)
        self.git("worktree", "add", "-q", "-b", "outside", self.home / "outside", cwd=main)
        self.assertEqual(self.covered(self.home / "outside"), [str(main / ".git/a")])

    def test_a_hidden_worktree_can_be_mounted_by_name(self):
        bare = self.bare("main", "feature")
        done = self.claudebox("--yes", "--mount-ro", bare / "feature", "--exec", "cat", bare / "feature/own.txt", cwd=bare / "main")
        self.assertEqual(done.stdout, "canary of feature\n", done.stderr)
        self.refused("--mount-ro", f"{self.home}/source:{bare}/feature/x", "--exec", "true", cwd=bare / "main")
        self.assertFalse((bare / "feature/x").exists())

    def test_too_many_worktrees_leave_git_out(self):
        bare = self.bare("main")
        for number in range(65):
            (bare / f"d{number}").mkdir()
        done = self.claudebox("--yes", "--exec", "ls", bare, cwd=bare / "main")
        self.assertIn("git is not available", done.stderr)
        self.assertEqual(done.stdout, "main\n")

    def test_gc_keeps_the_records_of_worktrees_that_are_not_in_the_box(self):
        main = self.repository(self.home / "main")
        self.git("worktree", "add", "-q", "-b", "other", self.home / "other", cwd=main)
        record = main / ".git/worktrees/other"
        for path in (*record.iterdir(), record):
            os.utime(path, (1, 1))
        self.run_box("git gc -q", cwd=main)
        self.assertEqual(self.git("rev-parse", "--abbrev-ref", "HEAD", cwd=self.home / "other").strip(), "other")

    def test_a_worktree_from_before_is_neither_removed_nor_moved(self):
        main = self.repository(self.home / "my main")
        (main / ".git/info/exclude").write_text("wt\nin\n")
        self.git("worktree", "add", "-q", "-b", "old", main / "wt/old one", cwd=main)
        self.git("config", "alias.wr", "worktree remove --force", cwd=main)
        commands = ("git worktree remove 'wt/old one'", "git worktree remove --force -- 'old one'", "git -C wt worktree remove 'old one/'",
                    f"git worktree remove '{main}/wt/old one'", "git worktree move 'wt/old one' wt/new", "git wr 'wt/old one'")
        for command in commands:
            done = self.claudebox("--yes", "--exec", "sh", "-c", command, cwd=main)
            self.assertEqual(done.returncode, 128, command + done.stderr)
            self.assertRegex(done.stderr, r"(?m)^fatal: claudebox: the worktree '.*old one/?' is older than this box, .*outside of the box\.$")
            self.assertEqual(sorted(os.listdir(main / "wt/old one")), [".git", "file.txt"], command)
        out = self.run_box("""
        git worktree add -q in/new && git worktree move in/new in/moved && git worktree remove in/moved && echo removed
        git worktree remove nowhere 2>&1; git worktree remove 2>/dev/null; echo $?; git worktree list --porcelain | grep -c ^worktree
        """, main)
        self.assertEqual(out, "removed\nfatal: 'nowhere' is not a working tree\n129\n2\n")
        self.git("worktree", "remove", "wt/old one", cwd=main)
