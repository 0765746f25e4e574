# SPDX-License-Identifier: MIT
"""The report names what a session changed in repositories besides branches: operations, nested repositories, the index, stashes, hooks, settings.
It says when it does not know."""
import json
import os
import shutil
import signal
import subprocess
import time

from lib.box import BoxTest, CLAUDEBOX, until


class ReportTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)

    def run_box(self, script, *arguments, **options):
        """Runs a script in the box; returns what claudebox printed."""
        done = self.claudebox("--yes", *arguments, "--exec", "sh", "-c", script, "sh", **options)
        self.assertNotEqual(done.returncode, 125, done.stderr)
        return done.stderr

    def report(self):
        return json.loads(self.claudebox("--report=json").stdout)

    def check(self, script, *sentences, arguments=()):
        """Runs a script in the box. The sentences are in the line at the end and in --report. Returns the JSON."""
        line = self.run_box(script, *arguments)
        text = " ".join(self.claudebox("--report").stdout.split())
        for sentence in sentences:
            self.assertIn(sentence, line)
            self.assertIn(sentence, text)
        return self.report()

    def undo(self, *arguments, status=0):
        done = self.claudebox("--undo", *arguments, "--yes")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return " ".join((done.stdout + done.stderr).split())


class Operations(ReportTest):
    def setUp(self):
        super().setUp()
        self.git("checkout", "-q", "-b", "other")
        (self.project / "file.txt").write_text("other\n")
        self.git("commit", "-qam", "other")
        self.git("checkout", "-q", "main")
        (self.project / "file.txt").write_text("mine\n")
        self.git("commit", "-qam", "mine")

    def test_each_unfinished_operation_is_named(self):
        for script, name in (("git merge -q other", "merge"), ("git cherry-pick other", "cherry-pick"), ("git cherry-pick other~1..other", "cherry-pick"),
                             ("git revert --no-edit HEAD~1", "revert"), ("git rebase -q other", "rebase"),
                             ("git format-patch -q --stdout main..other >/tmp/p; git am -q -3 /tmp/p", "am"), ("git bisect start", "bisect")):
            with self.subTest(script=script):
                report = self.check(script, f"{'an' if name == 'am' else 'a'} {name} is in progress")
                self.assertEqual(report["operations"], [{"name": name, "change": "started"}])
                self.undo("--undo=commits")
                self.assertEqual("main", self.git("rev-parse", "--abbrev-ref", "HEAD").strip())

    def test_one_that_changes_no_file_is_named_and_can_be_ended(self):
        self.check("git merge -q -s ours --no-commit other", "a merge is in progress")
        self.assertIn("--undo=commits", self.claudebox("--report").stdout)
        text = self.undo(status=125)
        self.assertIn("A merge is in progress and stays: `claudebox --undo=commits` ends it.", text)
        self.undo("--undo=commits")
        self.assertFalse((self.project / ".git/MERGE_HEAD").exists())

    def test_the_list_of_undo_says_that_it_stays(self):
        self.run_box("git merge -q other")
        self.assertIn("A merge is in progress and stays: `claudebox --undo=commits` ends it.", self.undo())
        self.assertTrue((self.project / ".git/MERGE_HEAD").exists())

    def test_one_of_the_user_that_the_session_ended_is_named(self):
        subprocess.run(["git", "merge", "-q", "other"], cwd=self.project, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(self.check("git merge --abort", "a merge was ended")["operations"], [{"name": "merge", "change": "ended"}])


class Nested(ReportTest):
    def setUp(self):
        super().setUp()
        self.library = self.project / "lib"
        self.library.mkdir()
        self.repository(self.library)
        self.git("branch", "other", cwd=self.library)

    def names(self, report):
        return {row["path"]: row["change"] for row in report["repositories"]}

    def test_changes_of_a_repository_in_the_project_are_named(self):
        for script, sentence, change in (("git -C lib commit -q --allow-empty -m two", "branches or HEAD of the repository lib changed", "changed"),
                                         ("git -C lib branch -D other", "branches or HEAD of the repository lib changed", "changed"),
                                         ("rm -rf lib/.git", "the repository lib was removed", "removed"),
                                         ("git init -q lib", "the repository lib was created", "created"),
                                         ("rm -rf lib", "the repository lib was removed", "removed"),
                                         ("mkdir -p a/b && git init -q a/b && echo 1 >a/b/c", "the repository a/b was created", "created")):
            with self.subTest(script=script):
                self.assertIn(change, self.names(self.check(script, sentence)).values())

    def test_what_changes_no_reference_is_not_named(self):
        self.run_box("echo 1 >x")
        report = self.check("git -C lib pack-refs --all; git -C lib gc -q; git -C lib status; git -C lib update-ref refs/remotes/origin/x HEAD; echo 2 >x")
        self.assertEqual(report["repositories"], [])

    def test_a_session_without_other_changes_does_not_hide_the_one_before(self):
        self.run_box("echo 1 >x")
        self.check("git -C lib branch -D other", "branches or HEAD of the repository lib changed")
        self.undo()
        self.assertFalse((self.project / "x").exists())

    def test_a_submodule(self):
        source = self.home / "source"
        source.mkdir()
        self.repository(source)
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", source, "sub")
        self.git("commit", "-qm", "submodule")
        for script, change in (("git -C sub commit -q --allow-empty -m two", "changed"), ("rm -rf sub", "removed")):
            self.assertEqual(self.names(self.check(script))["sub"], change)

    def test_hostile_repositories_execute_nothing_and_do_not_block(self):
        secret = self.home / "secret"
        secret.mkdir()
        self.repository(secret)
        self.run_box("true")
        git = self.library / ".git"
        shutil.rmtree(git / "refs")
        (git / "refs").symlink_to(secret / ".git/refs")
        (git / "packed-refs").unlink(missing_ok=True)
        os.mkfifo(git / "packed-refs")
        (self.project / "out").mkdir()
        (self.project / "out/file").write_text("1\n")
        (self.project / "out/.git").write_text(f"gitdir: {secret}/.git\n")
        self.run_box("true")
        script = "touch ready; until [ -e go ]; do sleep 0.05; done; echo 1 >>file.txt"
        with subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", script], cwd=self.project, env=self.env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL):
            self.assertTrue(until((self.project / "ready").exists))
            self.git("commit", "-q", "--allow-empty", "-m", "x", cwd=secret)
            (self.project / "go").touch()
        self.assertTrue(self.report()["saved"])
        self.assertEqual(self.report()["repositories"], [])

    def test_a_file_of_a_repository_that_never_ends_does_not_stop_the_session(self):
        self.run_box("true")  # git itself waits for a repository that it does not know
        for name in ("HEAD", "packed-refs", "refs/heads/trap"):
            with self.subTest(name=name):
                path = self.library / ".git" / name
                kept = path.read_bytes() if path.exists() else None
                path.unlink(missing_ok=True)
                os.mkfifo(path)
                started = time.monotonic()
                self.run_box("echo 1 >>file.txt")
                self.assertLess(time.monotonic() - started, 20)
                self.assertTrue(self.report()["saved"])
                path.unlink()
                if kept is not None:
                    path.write_bytes(kept)

    def test_many_are_cut(self):
        self.assertIn("296 more repositories changed", self.run_box("for i in $(seq 320); do mkdir -p m/$i; git init -q m/$i; done"))
        self.assertEqual(len(self.report()["repositories"]), 299)
        report = self.check("echo 2 >x")
        self.assertEqual(report["repositories"], [])


class Created(BoxTest):
    run_box, report, check = ReportTest.run_box, ReportTest.report, ReportTest.check

    def test_a_repository_where_there_was_none(self):
        self.assertTrue(self.check("git init -q", "a git repository was created")["repository_created"])
        self.assertFalse(self.check("echo 1 >file")["repository_created"])


class Index(ReportTest):
    def test_what_is_staged_is_named_and_restored(self):
        (self.project / "file.txt").write_text("mine\n")
        self.git("add", "file.txt")
        staged = self.git("diff", "--cached")
        report = self.check("git reset -q", "what is staged changed")
        self.assertIn("`claudebox --undo=commits` takes this back", self.claudebox("--report").stdout)
        self.assertTrue(report["index_changed"])
        self.assertEqual(report["files"]["count"], 0)
        text = self.undo(status=125)
        self.assertIn("What is staged stays: `claudebox --undo=commits` restores it too.", text)
        self.undo("--undo=commits")
        self.assertEqual(staged, self.git("diff", "--cached"))
        self.undo("--undo=commits")
        self.assertEqual("", self.git("diff", "--cached"))

    def test_a_new_file_that_is_staged(self):
        (self.project / "n").write_text("n\n")
        self.check("git add n", "what is staged changed")
        self.undo("--undo=commits")
        self.assertEqual("?? n\n", self.git("status", "--short"))

    def test_times_do_not_count(self):
        self.assertNotIn("report:", self.run_box("touch file.txt; git status >/dev/null"))

    def test_an_index_that_claudebox_cannot_read_does_not_count(self):
        self.git("update-index", "--split-index")
        (self.project / "n").write_text("n\n")
        self.git("add", "n")
        self.assertNotIn("report:", self.run_box("touch -d 2001-01-01 file.txt n; git update-index --refresh"))

    def test_a_repository_without_an_index(self):
        shutil.rmtree(self.project / ".git")
        self.git("init", "-q", "-b", "main")
        self.check("git add file.txt", "what is staged changed")
        self.undo("--undo=commits")
        self.assertFalse((self.project / ".git/index").exists())
        self.assertFalse((self.project / ".git/index.lock").exists())
        self.assertEqual("?? file.txt\n", self.git("status", "--short"))
        self.undo("--undo=commits")
        self.assertEqual("A  file.txt\n", self.git("status", "--short"))

    def test_a_repository_without_an_index_and_commits_of_the_session(self):
        shutil.rmtree(self.project / ".git")
        self.git("init", "-q", "-b", "main")
        self.run_box("git add -A; git -c user.name=x -c user.email=x@y commit -qm one; git branch new")
        self.undo("--undo=commits")
        self.assertEqual("?? file.txt\n", self.git("status", "--short"))


class Stashes(ReportTest):
    def test_each_dropped_stash_is_named(self):
        commits = []
        for i in range(3):
            (self.project / "file.txt").write_text(f"{i}\n")
            self.git("stash")
            commits.append(self.git("rev-parse", "stash").strip())
        lost = commits[1]
        report = self.check("git stash drop -q 'stash@{1}'", f"1 stash was dropped: {lost[:7]} (`git stash store {lost[:7]}`)")
        self.assertEqual(report["stashes_dropped"], [lost])
        self.git("stash", "store", lost[:7])
        self.assertEqual(sorted(self.check("git stash clear", "3 stashes were dropped: ")["stashes_dropped"]), sorted(commits))


class Hooks(ReportTest):
    def test_hooks_that_are_not_protected_are_named(self):
        (self.project / ".git/hooks").mkdir(exist_ok=True)
        (self.project / ".git/hooks/pre-push").write_text("#!/bin/sh\n")
        script = "printf '#!/bin/sh\\n' >.git/hooks/post-commit; chmod +x .git/hooks/post-commit"
        self.assertIn("1 file that your programs may execute or trust", self.run_box(script, "--unprotect", ".git/hooks"))
        report = self.report()
        self.assertEqual(report["executed"]["list"], [{"path": ".git/hooks/post-commit", "when": "without-asking", "why": "git runs it"}])
        self.assertIn(".git/hooks/post-commit", self.claudebox("--report").stdout)


class Settings(ReportTest):
    def test_settings_that_were_applied_outside_are_named(self):
        report = self.check("git config user.email agent@example.com", "settings of git changed: user.email")
        self.assertEqual(report["settings"], ["user.email"])
        self.assertEqual(self.git("config", "--file", ".git/config", "user.email").strip(), "agent@example.com")
        self.assertEqual(self.check("echo 1 >x")["settings"], [])


class Unknown(ReportTest):
    """What --report says if the changes are not known."""

    def show(self):
        return " ".join(self.claudebox("--report").stdout.split())

    def test_without_snapshots_it_does_not_say_that_nothing_was_changed(self):
        self.profile(undo="off")
        self.run_box("echo 1 >x")
        self.assertIn("changes of its files are not known", self.show())
        self.assertNotIn("no file was changed", self.show())
        self.assertNotIn("changed nothing", self.show())
        self.assertIn("has changed a file", self.refused("--diff"))

    def test_snapshots_that_were_removed(self):
        self.run_box("echo 1 >x")
        self.assertIn("claudebox --undo", self.show())
        self.assertEqual(self.claudebox("--gc=snapshots", "--yes").returncode, 0)
        self.assertIn("1 file changed", self.show())
        self.assertIn("the snapshots were removed: these changes cannot be shown or taken back any more", self.show())
        self.assertNotIn("--undo", self.show())
        for option in ("--diff", "--undo"):
            self.assertRegex(self.refused(option, "--yes"), "the snapshots of '[^']+' were removed")
        self.run_box("true")
        self.assertIn("has changed a file", self.refused("--diff"))

    def kill(self):
        with subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "echo 2 >>y; touch ready; sleep 60"], cwd=self.project, env=self.env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            self.assertTrue(until((self.project / "ready").exists))
            process.send_signal(signal.SIGKILL)
        (self.project / "ready").unlink()

    def test_a_session_whose_claudebox_was_killed(self):
        self.kill()
        self.assertTrue(until(lambda: "claudebox was killed in the last session: claudebox --diff shows" in self.claudebox("--report").stderr))
        self.assertIn("y", self.claudebox("--diff").stdout)
        self.assertIn("claudebox was killed in the last session", self.refused("--report"))
        self.run_box("echo 1 >x")
        self.assertNotIn("killed", self.show())
        self.kill()
        self.assertTrue(until(lambda: "claudebox was killed in a later session, which has no report: `claudebox --diff` shows" in self.show()))
        self.claudebox("--diff")
        self.assertIn("claudebox was killed in a later session", self.show())
        self.run_box("echo 3 >x")
        self.assertNotIn("killed", self.show())
