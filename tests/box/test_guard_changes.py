# SPDX-License-Identifier: MIT
"""The lines at the end of a session about changed files that git tracks, and about settings that were applied."""
import subprocess

from lib.box import BoxTest

FILES = (".envrc", ".npmrc", "sub/.npmrc")
SAME = "guard: git has put other versions there, by a checkout, a commit or 'git add': "


class Changes(BoxTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)
        self.commit("one", *FILES)
        self.git("checkout", "-qb", "other")
        self.commit("two", *FILES)
        self.git("checkout", "-q", "main")

    def commit(self, text, *names, cwd=None):
        for name in names:
            path = (cwd or self.project) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"tag={text}\n")
        self.git("add", ".", cwd=cwd or self.project)
        self.git("commit", "-qm", text, cwd=cwd or self.project)

    def lines(self, script, cwd=None, status=0):
        done = self.claudebox("--yes", "--exec", "sh", "-ec", script + "\nsleep 0.3", cwd=cwd)
        self.assertEqual(done.returncode, status, done.stderr)
        return [line for line in done.stderr.splitlines() if line.startswith("guard: ")]

    def shown(self, line, cwd=None):
        """Returns what the command in a line prints."""
        command = line.rpartition("without asking: " if "without asking: " in line else "(")[2].rstrip(")").split(", ")[0]
        return subprocess.run(["sh", "-c", command], cwd=cwd or self.project, env=self.env, stdout=subprocess.PIPE, text=True, check=True).stdout

    def test_a_checkout_is_one_soft_line(self):
        lines = self.lines("git checkout -q other")
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith(SAME), lines)
        self.assertTrue(lines[0].endswith(" (git log -p -1 -- PATH, git diff --cached)"), lines)
        self.assertEqual(sorted(lines[0][len(SAME):].split(" (")[0].split(", ")), [f"~/project/{name}" for name in FILES])

    def test_the_command_of_the_line_shows_the_change(self):
        lines = self.lines("echo tag=mine >sub/.npmrc; git commit -qam x")
        self.assertEqual(lines, [SAME + "~/project/sub/.npmrc (git log -p -1 -- sub/.npmrc, git diff --cached)"])
        self.assertIn("+tag=mine", self.shown(lines[0]))
        lines = self.lines("echo tag=more >sub/.npmrc")
        self.assertEqual(lines, ["guard: changed: ~/project/sub/.npmrc (your programs execute it without asking: git diff -- sub/.npmrc)"])
        self.assertIn("+tag=more", self.shown(lines[0]))
        # Paths of git are relative to the directory of the user.
        self.git("checkout", "-q", ".")
        lines = self.lines("echo tag=below >.npmrc", cwd=self.project / "sub")
        self.assertEqual(lines, ["guard: changed: ~/project/sub/.npmrc (your programs execute it without asking: git diff -- .npmrc)"])
        self.assertIn("+tag=below", self.shown(lines[0], cwd=self.project / "sub"))

    def test_what_differs_from_the_index_keeps_a_line_of_its_own(self):
        lines = self.lines("git checkout -q other; echo script-shell=./evil >.npmrc")
        self.assertEqual(lines[0], "guard: changed: ~/project/.npmrc (your programs execute it without asking: git diff -- .npmrc)")
        self.assertEqual(len(lines), 2, lines)
        self.assertNotIn("project/.npmrc", lines[1])

    def test_git_add_and_a_removal_are_shown_by_the_commands_of_the_line(self):
        lines = self.lines("echo tag=added >.npmrc; git add .npmrc; git rm -q sub/.npmrc")
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith(SAME), lines)
        self.assertIn("+tag=added", self.git("diff", "--cached"))

    def test_a_damaged_index_softens_nothing(self):
        lines = self.lines("git checkout -q other; printf x | dd of=.git/index bs=1 seek=5 conv=notrunc 2>/dev/null")
        self.assertIn("guard: changed: ~/project/.npmrc (your programs execute it without asking)", lines)
        self.assertFalse([line for line in lines if line.startswith(SAME)], lines)

    def test_sha_256_keeps_the_line_of_each_file(self):
        project = self.home / "sha256"
        project.mkdir()
        self.git("init", "-q", "-b", "main", "--object-format=sha256", cwd=project)
        self.commit("one", ".npmrc", cwd=project)
        lines = self.lines("echo tag=two >.npmrc; git commit -qam two", cwd=project)
        self.assertEqual(lines, ["guard: changed: ~/sha256/.npmrc (your programs execute it without asking)"])

    def test_a_new_worktree_is_one_line(self):
        lines = self.lines("git worktree add -q trees/new other")
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], r"^guard: new worktree or repository '~/project/trees/new' with \S+, \S+, \S+ \(your programs use them there\)$")
        for name in FILES:
            self.assertIn(name, lines[0])
        # In a later session it is like every other worktree.
        lines = self.lines("cd trees/new; git checkout -q --detach main")
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith(SAME + "~/project/trees/new/"), lines)

    def test_a_new_clone_is_one_line_and_a_changed_file_of_it_another(self):
        lines = self.lines("git clone -q -b other . copy; echo script-shell=./evil >copy/.npmrc")
        self.assertEqual(lines[0], "guard: changed: ~/project/copy/.npmrc (your programs execute it without asking: git -C copy diff -- .npmrc)")
        self.assertIn("+script-shell", self.shown(lines[0]))
        self.assertEqual(len(lines), 2, lines)
        self.assertTrue(lines[1].startswith("guard: new worktree or repository '~/project/copy' with "), lines)
        self.assertNotIn(" .npmrc", lines[1])

    def test_a_worktree_of_a_worktree_is_found(self):
        self.git("worktree", "add", "-q", self.home / "linked", "-b", "linked", "main")
        lines = self.lines("git worktree add -q .trees/new other", cwd=self.home / "linked")
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("guard: new worktree or repository '~/linked/.trees/new' with "), lines)

    def test_applied_settings_are_named_without_their_values(self):
        self.git("remote", "add", "far", "https://example.com/x")
        lines = self.lines("git config user.email box@example.com; git config core.autocrlf input; git remote add other https://example.com/y; "
                           "git config branch.main.remote far; git config branch.main.merge refs/heads/main")
        self.assertEqual(lines, [f"guard: applied to '{self.project}/.git/config': core.autocrlf, user.email"])
        lines = self.lines("git config --unset core.autocrlf; git config core.pager evil")
        self.assertEqual(lines[0], f"guard: applied to '{self.project}/.git/config': core.autocrlf")
        self.assertRegex(lines[1], "^guard: settings of '.*' that claudebox does not apply outside: core.pager ")
        self.assertEqual(self.lines("git remote add further https://example.com/x"), [])

    def test_a_setting_that_could_not_be_written_is_not_called_applied(self):
        lines = self.lines("git config user.email box@example.com; touch .git/config.lock")
        self.assertFalse([line for line in lines if "applied to" in line], lines)
