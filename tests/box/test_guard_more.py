# SPDX-License-Identifier: MIT
"""Protected places: what the user is shown, and boxes of other kinds than the usual one."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from box import kernel
from lib.box import CLAUDEBOX, BoxTest, until
from lib.instructions import InstructionsTest
from lib.terminal import Terminal

AS_ROOT = True


class MoreTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)

    def quarantine(self):
        """Returns the paths of the items in quarantine, relative to the project."""
        return sorted(os.path.relpath(json.loads(record.read_text())["path"], self.project)
                      for record in self.home.glob(".claudebox/instances/*/quarantine/*/record.json"))


class Shown(MoreTest):
    def setUp(self):
        super().setUp()
        (self.project / ".vscode").mkdir()
        (self.project / ".vscode/tasks.json").write_text("{}\n")
        (self.project / ".npmrc").write_text("a=b\n")
        self.git("add", ".npmrc")
        self.git("commit", "-qm", "npmrc")

    def section(self, *arguments):
        """Returns the lines of the full audit on protected places."""
        out = self.claudebox("--yes", "--audit=full", *arguments, "--exec", "true").stderr
        return out.partition("\nProtected:")[2].partition("\n\n")[0].splitlines()[1:]

    def test_the_full_audit_lists_what_exists_and_counts_what_is_watched(self):
        lines = self.section()
        self.assertIn("  [~] read-only  .git/hooks (git runs the programs in it)", lines)
        self.assertIn("  [~] copy       .git/config (git runs the programs that it names)", lines)
        self.assertIn("  [~] read-only  .vscode (the editor runs its tasks and the programs of its settings)", lines)
        self.assertRegex(" ".join(" ".join(lines).split()), r"\[~\] watched \d+ names: what the box writes there is moved to quarantine\. "
                         r"Such places in subdirectories are found and protected while the box starts")
        self.assertIn("  [~] writable   .npmrc (git tracks it: `git diff` shows a change)", lines)
        self.assertNotIn("NOT", "\n".join(lines))

    def test_an_excepted_place_is_named_in_every_form(self):
        self.assertIn("  [+] NOT        .vscode (--unprotect)", self.section("--unprotect", ".vscode"))
        guard = self.plan("--unprotect", ".vscode")["guard"]
        self.assertEqual(guard["unprotected"], [str(self.project / ".vscode")])
        self.assertNotIn(str(self.project / ".vscode"), [place["path"] for place in guard["places"]])

    def test_an_exception_that_is_no_place_is_an_error(self):
        for path, message, hint in ((".vscod", "is no protected place", "did you mean '.vscode'?"), ("Makefile", "is no protected place", "see doc/guard.md"),
                                    ("/etc/passwd", "is outside of the project", "see doc/guard.md"), ("../x", "is outside of the project", "see doc/guard.md")):
            done = self.claudebox("--yes", "--unprotect", path, "--exec", "echo", "started")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"--unprotect: '{path}' {message}", done.stderr)
            self.assertIn(hint, done.stderr)
        self.profile(unprotect=[".idea", ".vscod"])
        done = self.claudebox("--yes", "--exec", "echo", "started")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertRegex(done.stderr, r"profiles/default\.json': line 1, column \d+: 'unprotect\[1\]': '\.vscod' is no protected place\n.*did you mean '\.vscode'\?")

    def test_the_directory_of_hooks_can_be_excepted(self):
        self.git("config", "core.hooksPath", "tools/hooks")
        self.claudebox("--yes", "--unprotect", "tools/hooks", "--exec", "sh", "-c", "mkdir -p tools/hooks; echo x >tools/hooks/pre-commit; sleep 0.3")
        self.assertTrue((self.project / "tools/hooks/pre-commit").exists())
        self.git("config", "--unset", "core.hooksPath")
        self.assertEqual(self.claudebox("--yes", "--unprotect", "tools/hooks", "--exec", "true").returncode, 2)

    def test_a_name_can_be_excepted_in_every_directory(self):
        (self.project / "old").mkdir()
        (self.project / "old/.envrc").write_text("mine\n")
        (self.project / ".envrc").write_text("mine\n")
        script = "mkdir -p a/b; for d in . old a a/b; do echo box >$d/.envrc; echo x >$d/.mcp.json; done; sleep 0.3"
        done = self.claudebox("--yes", "--unprotect", "**/.envrc", "--exec", "sh", "-c", script)
        self.assertIn("'**/.envrc' in every directory is not protected", done.stderr)
        self.assertEqual([(self.project / d / ".envrc").read_text() for d in (".", "old", "a", "a/b")], ["box\n"] * 4)
        self.assertEqual(self.quarantine(), [".mcp.json", "a/.mcp.json", "a/b/.mcp.json", "old/.mcp.json"])
        self.assertIn("  [+] NOT        **/.envrc in every directory (--unprotect)", self.section("--unprotect", "**/.envrc"))
        self.claudebox("--yes", "--unprotect", ".envrc", "--exec", "sh", "-c", "mkdir c; echo x >.envrc; echo x >c/.envrc; sleep 0.3")
        self.assertEqual((self.project / ".envrc").read_text(), "x\n")
        self.assertFalse((self.project / "c/.envrc").exists())  # only the top
        self.ask()
        out = self.ask("--unprotect", "**/.envrc")
        self.assertIn("+ unprotected ~/project/**/.envrc in every directory", out)
        self.assertRegex(out, r"\[\+\] NOT \*\*/\.envrc in every directory")

    def test_each_tracked_place_is_listed_once(self):
        """The directory of hooks is also a place of the table."""
        (self.project / ".husky").mkdir()
        (self.project / ".husky/pre-commit").write_text("")
        self.git("add", ".husky")
        self.git("config", "core.hooksPath", ".husky")
        self.assertEqual(sorted(self.plan()["guard"]["tracked"]), [".husky", ".husky/pre-commit", ".npmrc"])
        self.assertEqual("\n".join(self.section()).count(".husky"), 2)

    def test_the_script_says_that_places_in_subdirectories_are_protected_too(self):
        out = self.claudebox("--dry-run").stdout
        self.assertRegex(out.replace("\n# ", " "), r"claudebox also protects such places in subdirectories, which it finds while the box starts\.")

    def test_json_lists_the_places(self):
        guard = self.plan()["guard"]
        self.assertTrue(guard["active"])
        self.assertEqual((guard["tracked"], guard["unprotected"]), ([".npmrc"], []))
        places = {os.path.relpath(place["path"], self.project): place for place in guard["places"]}
        self.assertEqual((places[".git/config"]["mount"], places[".git/hooks"]["mount"], places[".git"]["mount"]), ("copy", "read-only", "pinned"))
        self.assertEqual((places[".git/hooks"]["host"], places[".git/hooks"]["decision"]), ("executes", "protected"))
        self.assertEqual((places[".vscode"]["host"], places[".git"]["why"]), ("asks first", None))

    def ask(self, *options):
        terminal = Terminal([CLAUDEBOX, *options, "--exec", "echo", "it-runs"], {**self.env, "NO_COLOR": "1"}, str(self.project), columns=120)
        self.addCleanup(terminal.close)
        terminal.expect(r"Start\? \[y/N\]")
        terminal.send("y\n")
        terminal.wait(20)
        return terminal.output.decode()

    def test_the_short_audit_has_one_line_and_a_new_exception_is_a_grant(self):
        out = self.ask()
        self.assertRegex(out, r"Protected: +\[~\] \d+ places of the project that programs outside execute, and new ones")
        self.assertNotIn("NOT ", out)
        (self.project / ".idea").mkdir()
        self.assertNotIn("Changed", self.ask())  # an ordinary place is no grant
        out = self.ask("--unprotect", ".vscode")
        self.assertIn("+ unprotected ~/project/.vscode", out)
        self.assertRegex(out, r"\[\+\] NOT \.vscode")
        self.assertIn("'.vscode' is not protected", out)

    def test_nothing_to_say_is_not_said(self):
        done = self.claudebox("--yes", "--exec", "true")
        self.assertNotIn("guard", done.stderr)
        self.assertNotIn("rotected", done.stderr)


class Kinds(MoreTest):
    def test_a_read_only_project_has_no_guard(self):
        self.profile(project="read-only")
        plan = self.plan()
        self.assertEqual((plan["guard"]["active"], plan["guard"]["places"]), (False, []))
        done = self.claudebox("--yes", "--audit=full", "--exec", "sh", "-c",
                              "for f in .envrc .git/config .git/hooks/x; do echo >$f || echo blocked; done 2>/dev/null; git status --porcelain")
        self.assertEqual(done.stdout, "blocked\n" * 3)
        self.assertNotIn("Protected:", done.stderr)

    def test_a_nested_user_namespace_cannot_uncover_a_place(self):
        self.profile(nested=True)
        if os.geteuid() == 0:
            self.assertIn("refused for root", self.refused())
            return
        (self.project / ".envrc").write_text("mine\n")
        before = (self.project / ".git/config").read_text()
        out = self.box(r"""
        unshare -Urm sh -c '
            umount .envrc || umount -l .envrc || echo busy; umount .git/config || umount -l .git/config || echo busy
            umount .git/hooks || umount -l .git/hooks || echo busy; umount -l . || echo busy
            mount -o remount,bind,rw .envrc || echo read-only; echo evil >.envrc || echo blocked
            mount -t tmpfs none .git/hooks && echo evil >.git/hooks/pre-commit && echo covered
            mount -t tmpfs none .git && mkdir .git/hooks && echo evil >.git/hooks/pre-commit && echo covered
            mkdir other; mount --rbind . other; echo evil >other/.envrc || echo blocked
            mount --bind . other; cat other/.envrc; echo evil >other/.envrc || echo blocked
            umount -l other; exit 0' 2>/dev/null
        echo evil >.envrc || echo blocked""")
        self.assertEqual(out.splitlines().count("busy"), 4, out)
        self.assertIn("read-only\nblocked\ncovered\ncovered\n", out)
        self.assertEqual((self.project / ".envrc").read_text(), "mine\n")
        self.assertEqual((self.project / ".git/config").read_text(), before)
        self.assertEqual(list((self.project / ".git/hooks").glob("pre-commit")), [])

    def test_a_pipe_and_print_mode(self):
        self.fake_claude("echo evil >.envrc; sleep 0.3; [ -e .envrc ] || echo moved; cat")
        done = self.claudebox("--yes", "-p", "question", stdin=None, input="text\n")
        self.assertEqual((done.returncode, done.stdout), (0, "moved\ntext\n"), done.stderr)
        self.assertIn("guard: moved to quarantine: ~/project/.envrc", done.stderr)

    def test_a_loop_in_print_mode_ends_with_status_123(self):
        self.fake_claude("while :; do echo evil >.envrc; done")
        done = self.claudebox("--yes", "-p", "question")
        self.assertEqual(done.returncode, 123, done.stderr)
        self.assertFalse((self.project / ".envrc").exists())

    def test_a_project_that_is_no_repository(self):
        project = self.home / "plain"
        project.mkdir()
        (project / ".envrc").write_text("mine\n")
        out = self.box("echo evil >.envrc || echo blocked; echo x >.yarnrc; git init -q . && git config core.fsmonitor /tmp/evil; "
                       "cp /bin/true .git/hooks/pre-commit; sleep 0.3; ls .yarnrc .git/hooks/pre-commit 2>/dev/null; echo end", cwd=project)
        self.assertEqual(out, "blocked\nend\n")
        self.assertEqual((project / ".envrc").read_text(), "mine\n")
        self.assertNotIn("fsmonitor", (project / ".git/config").read_text())
        self.assertFalse((project / ".git/hooks/pre-commit").exists())

    def test_a_project_in_a_subdirectory_of_a_repository(self):
        sub = self.project / "sub"
        sub.mkdir()
        (sub / ".npmrc").write_text("one\n")
        (sub / ".envrc").write_text("mine\n")
        self.git("add", "sub/.npmrc")
        self.git("commit", "-qm", "sub")
        self.assertEqual(self.plan(cwd=sub)["guard"]["tracked"], [".npmrc"])
        out = self.box("""
        echo two >.npmrc; git commit -qam two && echo committed; echo evil >.envrc || echo blocked; echo evil >../.envrc || echo blocked
        cp /bin/true ../.git/hooks/x || echo hooks; git config core.fsmonitor /tmp/evil; git remote add r https://example.com/x; echo x >.yarnrc
        sleep 0.3; ls .yarnrc""", cwd=sub)
        self.assertEqual(out, "committed\nblocked\nblocked\nhooks\n")
        self.assertEqual((self.git("remote"), self.git("status", "--porcelain")), ("r\n", "?? sub/.envrc\n"))
        self.assertNotIn("fsmonitor", (self.project / ".git/config").read_text())
        self.assertEqual(self.quarantine(), [".git/config", "sub/.yarnrc"])


class Prepared(MoreTest):
    """A first box prepares files that are harmless where they are. A second one renames the directory around them, so they keep their time."""

    def two_boxes(self, first, second):
        self.box(first)
        time.sleep(0.05)
        self.box(second + "; sleep 0.4")

    def test_hooks_of_a_nested_repository(self):
        self.repository(self.project / "sub")
        self.two_boxes("mkdir sub/payload; cp /bin/true sub/payload/pre-commit", "mv sub/.git/hooks sub/x; mv sub/payload sub/.git/hooks")
        self.assertEqual(os.listdir(self.project / "sub/.git/hooks"), [])
        self.assertEqual(self.quarantine(), ["sub/.git/hooks/pre-commit"])

    def test_a_git_directory_from_a_directory_that_is_not_searched(self):
        for name in ("node_modules/q", ".git/lfs/q"):
            with self.subTest(name):
                self.two_boxes(f"git init -q {name} && git -C {name} config core.fsmonitor /tmp/evil; mkdir -p new", f"rm -rf new/.git; mv {name}/.git new/.git")
                self.assertIn("bare = false", (self.project / "new/.git/config").read_text())
                self.assertNotIn("fsmonitor", (self.project / "new/.git/config").read_text())

    def test_settings_of_an_agent(self):
        self.two_boxes("mkdir -p a/x/skills/y other; echo evil >a/x/settings.json; echo evil >a/x/skills/y/z; echo evil >a/x/notes", "mv a/x a/.claude; mv a other/a")
        self.assertEqual([path.name for path in (self.project / "other").rglob("*") if path.is_file()], ["notes"])
        self.assertEqual([os.path.basename(path) for path in self.quarantine()], ["settings.json", "z"])

    def test_after_events_were_lost(self):
        """More events than the kernel keeps: the search after that finds the renamed directories."""
        self.repository(self.project / "sub")
        limit = int(pathlib.Path("/proc/sys/fs/inotify/max_queued_events").read_text())
        flood = f"""
import os, time
open("ready", "w").close()
while not os.path.exists("go"):
    time.sleep(0.01)
for i in range({limit}):
    os.close(os.open(f"flood-{{i % 100}}", os.O_CREAT | os.O_WRONLY))
os.rename("payload", "sub/.git/hooks")
os.rename("prepared", "deep/.claude")
open("done", "w").close()
while os.path.exists("go"):
    time.sleep(0.01)
"""
        self.box("mkdir payload deep prepared; cp /bin/true payload/pre-commit; echo {} >prepared/settings.json; rm -rf sub/.git/hooks")
        with subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "python3", "-c", flood], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            self.addCleanup(process.kill)
            self.assertTrue(until((self.project / "ready").exists, 10))
            guard = int(subprocess.run(["pgrep", "-P", str(process.pid), "-x", "claudebox-guard"], stdout=subprocess.PIPE, check=True).stdout)
            os.kill(guard, signal.SIGSTOP)
            (self.project / "go").touch()
            self.assertTrue(until((self.project / "done").exists, 30))
            os.kill(guard, signal.SIGCONT)
            self.assertTrue(until(lambda: os.listdir(self.project / "sub/.git/hooks") == [], 10))
            self.assertTrue(until(lambda: os.listdir(self.project / "deep/.claude") == [], 10))
            (self.project / "go").unlink()
            self.assertEqual(process.wait(timeout=30), 0)
        self.assertEqual(sorted(self.quarantine()), ["deep/.claude/settings.json", "sub/.git/hooks/pre-commit"])

    def test_the_directory_around_a_place_is_replaced(self):
        """A mount goes with a renamed directory. What the box then creates at the old path is the box's."""
        (self.project / "deep/.claude").mkdir(parents=True)
        (self.project / "deep/.claude/settings.json").write_text("{}")
        self.box("echo x >deep/.claude/notes; mv deep deep2; mkdir -p deep/.claude; echo evil >deep/.claude/settings.json; sleep 0.4")
        self.assertEqual(sorted(str(path.relative_to(self.project)) for path in self.project.glob("deep*/.claude/*")),
                         ["deep2/.claude/notes", "deep2/.claude/settings.json"])
        self.assertEqual((self.project / "deep2/.claude/settings.json").read_text(), "{}")
        self.assertEqual(self.quarantine(), ["deep/.claude/settings.json"])


class Hidden(MoreTest):
    """Places that the box hides from the guard, and states that it leaves for the user."""

    def assert_nothing_runs(self, *commands):
        for command in commands:
            subprocess.run(["sh", "-c", command], cwd=self.project, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        self.assertFalse((self.home / "ran").exists())

    def evil(self):
        return f"touch {self.home}/ran; false"

    def nested(self, path):
        """Returns a script that creates a repository with a commit, adds it to the index, and makes its configuration execute something."""
        return (f"git init -q {path} && git -C {path} commit -q --allow-empty -m x && git add {path} 2>/dev/null && git commit -qm sub; "
                f"""printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "{self.evil()}"\\n' >{path}/.git/config; """)

    def test_directories_that_cannot_be_read(self):
        for more in (0, 1200):  # directories: a large project is not searched at the end
            with self.subTest(directories=more):
                for i in range(more):
                    (self.project / f"many/d{i}").mkdir(parents=True)
                self.box("mkdir -m 0 z; sleep 0.2; chmod 755 z; " + self.nested("z/sub") + "echo x >z/.envrc; mkdir z/.claude; echo {} >z/.claude/settings.json; "
                         "chmod 311 z")
                self.assert_nothing_runs("git status", "git diff")
                self.assertEqual((self.project / "z").stat().st_mode & 0o777, 0o711 if os.getuid() else 0o311)  # see doc/undo.md
                (self.project / "z").chmod(0o755)
                self.assert_nothing_runs("git status", "git diff")
                self.assertEqual([path for path in (self.project / "z").rglob("*") if path.name in (".envrc", "settings.json")], [])
                self.box("rm -rf z; git rm -rq --cached z; git commit -qm gone")

    def test_hooks_that_cannot_be_read(self):
        shutil.rmtree(self.project / ".git/hooks")
        self.box(f"""mkdir -m 0 .git/hooks; sleep 0.2; chmod 755 .git/hooks; printf '#!/bin/sh\\n{self.evil()}\\n' >.git/hooks/pre-commit;
                 chmod 755 .git/hooks/pre-commit; chmod 311 .git/hooks""")
        self.assert_nothing_runs("git commit --allow-empty -m x")

    def test_directories_that_cannot_be_written(self):
        self.box("mkdir -p node_modules/p/.claude node_modules/p/e; cd node_modules/p; " + self.nested("e") + "echo x >.envrc; echo {} >.claude/settings.json; "
                 "chmod 555 e/.git .claude .; chmod 755 ../p; mv ../p ../../p; chmod 555 ../../p; sleep 0.3")
        self.assert_nothing_runs("git status", "git -C p/e status")
        self.assertEqual([path.name for path in (self.project / "p").rglob("*") if path.name in (".envrc", "settings.json")], [])
        for path in ("p", "p/e/.git"):
            (self.project / path).chmod(0o755)

    def test_links_at_the_place_of_directories_of_git(self):
        self.box("mv .git/info .git/i2; mkdir x; ln -s ../x .git/info; echo '* filter=zz' >x/attributes; mv .git/objects/info .git/o2; mkdir y; "
                 "ln -s ../../y .git/objects/info; echo /tmp/other >y/alternates; sleep 0.3")
        self.assertFalse((self.project / ".git/info").exists())
        self.assertFalse((self.project / ".git/objects/info").exists())
        self.assertEqual(self.quarantine(), [".git/info", ".git/objects/info"])

    def test_a_link_to_a_repository_among_dependencies(self):
        self.box("mkdir node_modules; ln -s node_modules/e sub; sleep 0.2; git init -q node_modules/e; git -C node_modules/e config core.fsmonitor /tmp/evil; sleep 0.3")
        self.assertNotIn("evil", (self.project / "node_modules/e/.git/config").read_text())

    def test_operations_that_are_not_finished(self):
        (self.project / "f").write_text("one\n")
        self.git("add", "f")
        self.git("commit", "-qm", "one")
        (self.project / "f").write_text("two\n")
        self.git("commit", "-qam", "two")
        self.box(f"""GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -qi HEAD~1; printf 'x {self.evil()}\\nexec {self.evil()}\\n' >>.git/rebase-merge/git-rebase-todo
                 printf x/../evil >.git/rebase-merge/strategy""")
        self.assertFalse((self.project / ".git/rebase-merge/strategy").exists())
        self.assert_nothing_runs("GIT_EDITOR=true git rebase --continue")
        self.assertEqual((self.project / "f").read_text(), "two\n")
        self.assertEqual(self.quarantine(), [".git/rebase-merge/git-rebase-todo", ".git/rebase-merge/strategy"])

    def test_a_command_in_a_rebase_of_the_agent_runs_in_the_box(self):
        self.git("commit", "-q", "--allow-empty", "-m", "two")
        self.assertEqual(self.box("git rebase -q --exec 'echo ran-in-the-box' HEAD~1 && git log --format=%s -1"), "ran-in-the-box\ntwo\n")
        self.assertEqual(self.quarantine(), [])

    def test_a_place_that_git_tracks_no_more(self):
        for i in range(1200):
            (self.project / f"many/d{i}").mkdir(parents=True)
        self.box("sleep 0.5; touch x; git add x; cp .git/index keep; echo evil >.envrc; git add -f .envrc; sleep 0.3; git rm -qf --cached .envrc; sleep 0.3")
        self.assertFalse((self.project / ".envrc").exists())

    def test_a_damaged_index(self):
        self.box("echo garbage >.git/index; echo evil >.envrc; sleep 0.3")
        self.assertFalse((self.project / ".envrc").exists())

    def test_a_link_in_place_of_a_directory_with_tracked_files(self):
        (self.project / ".claude").mkdir()
        (self.project / ".claude/notes").write_text("x")
        self.git("add", "-f", ".claude/notes")
        self.git("commit", "-qm", "notes")
        self.box("mkdir other; echo {} >other/settings.json; mv .claude gone; ln -s other .claude; sleep 0.3")
        self.assertFalse((self.project / ".claude").is_symlink())

    def test_a_record_of_a_worktree_elsewhere(self):
        self.box("mkdir -p .git/worktrees/new; cd .git/worktrees/new; echo /tmp/victim/.git >gitdir; echo ../.. >commondir; cp ../../HEAD .; sleep 0.3")
        self.assertFalse((self.project / ".git/worktrees/new/gitdir").exists())


    def test_configurations_that_are_hard_to_parse(self):
        for tail in ("[user]\\n\\tname = abc\\134", "[x", "[user]\\n\\tname = \\042a"):
            with self.subTest(tail):
                self.box(f"""git config extensions.worktreeConfig true; rm -rf s; git init -q s
                         printf '[core]\\n\\tfsmonitor = "{self.evil()}"\\n{tail}' >.git/config.worktree; cp .git/config.worktree s/.git/config; sleep 0.3""")
                self.assertFalse((self.project / ".git/config.worktree").exists())
                self.assert_nothing_runs("git status", "git -C s status")

    def test_git_directories_with_odd_parts(self):
        make = {"file": ": >D/objects; mkdir D/refs; chmod +x D/objects", "link": "ln -s /usr/bin/env D/objects; ln -s /usr/bin/env D/refs",
                "fifo": "mkfifo -m 755 D/objects D/refs"}
        for name, script in make.items():
            with self.subTest(name):
                self.box(f"""mkdir -p {name}/.git; echo 'ref: refs/heads/main' >{name}/.git/HEAD; {script.replace("D", name + "/.git")}
                         printf '[core]\\n\\tfsmonitor = {self.evil()}\\n' >{name}/.git/config; sleep 0.3""")
                self.assert_nothing_runs(f"git -C {name} status")
                self.assertNotIn("fsmonitor", (self.project / name / ".git/config").read_text())

    def test_a_link_to_a_pointer(self):
        self.box("mkdir -p node_modules s; git init -q node_modules/x; git -C node_modules/x config core.fsmonitor /tmp/evil; echo 'gitdir: ../node_modules/x/.git' >ptr; "
                 "ln -s ../ptr s/.git; sleep 0.3")
        self.assertFalse((self.project / "s/.git").is_symlink())

    def test_remotes_that_are_pointers(self):
        self.box(f"""mkdir -p node_modules dp; git init -q --bare node_modules/e.git; printf '#!/bin/sh\\n{self.evil()}\\n' >node_modules/e.git/hooks/pre-receive
                 chmod 755 node_modules/e.git/hooks/pre-receive; echo "gitdir: $PWD/node_modules/e.git" >ptr; cp ptr dp.git; git remote add one "$PWD/ptr"
                 git remote add two "$PWD/dp"; git init -q n; git -C n commit -q --allow-empty -m x; git -C n remote add one "$PWD/ptr"; sleep 0.3""")
        self.assert_nothing_runs("git push one HEAD:refs/heads/x", "git push two HEAD:refs/heads/x", "git -C n push one HEAD:refs/heads/x")
        self.assertEqual(self.git("remote"), "")

    def test_a_repository_among_dependencies_that_a_commit_has(self):
        self.box("""git init -q node_modules/a/e; git -C node_modules/a/e commit -q --allow-empty -m e; git -C node_modules/a/e config core.fsmonitor /tmp/evil
                 h=$(git -C node_modules/a/e rev-parse HEAD); export GIT_INDEX_FILE=/tmp/ix; git read-tree HEAD; git update-index --add --cacheinfo 160000,$h,node_modules/a/e
                 t=$(git write-tree); unset GIT_INDEX_FILE; git branch feat $(git commit-tree -p HEAD -m sub $t)""")
        self.assertIn("feat", self.git("branch"))
        self.assertNotIn("evil", (self.project / "node_modules/a/e/.git/config").read_text())

    def test_a_link_into_the_home_of_the_box(self):
        home = next((self.home / ".claudebox/instances").glob("*"), None) or self.box("true") or next((self.home / ".claudebox/instances").glob("*"))
        self.box(f"git init -q ~/r2; ln -s {home}/home/r2 link; ln -s /etc fine; sleep 0.3")
        self.assertFalse((self.project / "link").is_symlink())
        self.assertTrue((self.project / "fine").is_symlink())

    def test_a_hook_that_becomes_executable_by_another_name(self):
        script = r"""
import ctypes, os, time
fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o644)
os.write(fd, b"#!/bin/sh\\n")
assert ctypes.CDLL(None).linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, b"s/.git/hooks/pre-commit", 0x400) == 0
time.sleep(0.4)
os.fchmod(fd, 0o755)
time.sleep(0.4)
print(os.path.exists("s/.git/hooks/pre-commit"))
"""
        self.box("git init -q s")
        done = self.claudebox("--yes", "--exec", "python3", "-c", script)
        self.assertEqual(done.stdout, "False\n", done.stderr)


class OfTheUser(MoreTest):
    """What the user does beside a box, and what the user has, stays."""

    def test_each_of_two_boxes_names_what_was_moved(self):
        """Which of two guards moves a file is chance."""
        with subprocess.Popen([CLAUDEBOX, "--yes", "--quiet", "--exec", "sleep", "60"], cwd=self.project, env=self.env) as other:
            try:
                self.assertTrue(until(lambda: list(self.home.glob(".claudebox/instances/*/snapshots/*/sessions/*/before"))))
                for number in range(6):
                    name = f"d{number}/.envrc"
                    done = self.claudebox("--yes", "--exec", "sh", "-c", f"mkdir d{number}; echo x >{name}; sleep 0.5")
                    self.assertIn(f"moved to quarantine: {self.tilde(self.project)}/{name}", done.stderr)
                    self.assertEqual(done.stderr.count("moved to quarantine"), 1)
            finally:
                other.terminate()

    def tilde(self, path):
        return f"~/{path.relative_to(self.home)}"

    def beside(self, script, *, during):
        """Runs `during` while a box waits; returns what claudebox printed."""
        with subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", f"{script}; touch ready; while [ -e ready ]; do sleep 0.02; done"], cwd=self.project,
                              env=self.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            try:
                self.assertTrue(until((self.project / "ready").exists, 10))
                during()
                time.sleep(0.3)
                (self.project / "ready").unlink()
                return process.communicate(timeout=30)[1]
            finally:
                process.kill()  # else the end of the block waits for the box

    def test_new_files_in_protected_directories_are_the_users(self):
        (self.project / ".vscode").mkdir()
        (self.project / ".vscode/settings.json").write_text("{}")

        def during():
            (self.project / ".vscode/tasks.json").write_text("{}")
            hook = self.project / ".git/hooks/pre-commit"
            hook.write_text("#!/bin/sh\n")
            hook.chmod(0o755)
        self.beside("true", during=during)
        self.assertTrue((self.project / ".vscode/tasks.json").exists())
        self.assertTrue((self.project / ".git/hooks/pre-commit").exists())
        self.assertEqual(self.quarantine(), [])

    def test_settings_of_git_take_effect_outside(self):
        self.git("config", "core.hooksPath", "hooks-one")

        def during():
            self.git("config", "core.hooksPath", "hooks-two")
            time.sleep(0.2)
            self.git("config", "core.editor", "vim")
        self.beside("true", during=during)
        self.assertEqual((self.git("config", "core.hooksPath"), self.git("config", "core.editor")), ("hooks-two\n", "vim\n"))
        self.assertEqual(self.quarantine(), [])

    def test_several_changes_of_git_in_a_row(self):
        def during():
            self.git("config", "core.pager", "cat")
            time.sleep(0.3)
            self.git("init", "-q")
            self.git("config", "user.name", "One")
            self.git("config", "user.name", "Two")
        self.beside("true", during=during)
        self.assertEqual(self.git("config", "core.pager"), "cat\n")

    def test_a_worktree_beside_the_project(self):
        self.beside("true", during=lambda: self.git("worktree", "add", "-q", "../beside"))
        self.assertIn("/beside", self.git("worktree", "list"))
        self.assertEqual(self.quarantine(), [])

    def test_a_hook_of_a_nested_repository_is_edited(self):
        self.repository(self.project / "nested")
        hook = self.project / "nested/.git/hooks/post-commit"
        hook.write_text("#!/bin/sh\n# one\n")
        hook.chmod(0o755)
        self.beside("sleep 0.2", during=lambda: subprocess.run(["sed", "-i", "s/one/two/", hook], check=True))
        self.assertIn("two", hook.read_text())

    def test_temporary_files_of_editors_beside_hooks(self):
        """`sed -i` renames a new executable file. The guard moved it before sed could, in one of ten runs."""
        self.repository(self.project / "nested")
        hook = self.project / "nested/.git/hooks/post-commit"
        hook.write_text("#!/bin/sh\n")
        hook.chmod(0o755)

        def during():
            other = hook.with_name("sedVzBEIN")
            other.write_text("#!/bin/sh\n# two\n")
            other.chmod(0o755)
            time.sleep(0.1)
            other.rename(hook)
        self.beside("sleep 0.2", during=during)
        self.assertIn("two", hook.read_text())
        self.assertEqual(self.quarantine(), [])
        self.box("echo >nested/.git/hooks/helper; chmod +x nested/.git/hooks/helper; sleep 1; ls nested/.git/hooks >listed")
        self.assertNotIn("helper", (self.project / "listed").read_text())

    def test_a_directory_is_renamed_after_an_edit(self):
        (self.project / "sub").mkdir()
        place = self.project / "sub/.envrc"
        place.write_text("one\n")

        def during():
            subprocess.run(["sed", "-i", "s/one/two/", place], check=True)
            time.sleep(0.3)
            (self.project / "sub").rename(self.project / "sub2")
        self.beside("sleep 0.2", during=during)
        self.assertEqual((self.project / "sub2/.envrc").read_text(), "two\n")

    def test_an_exception_without_an_effect_is_an_error(self):
        (self.project / ".vscode").mkdir()
        (self.project / ".vscode/tasks.json").write_text("{}\n")
        for path, hint in (("*/.envrc", "in every directory"), ("sub/**/.envrc", "in every directory"), (".vscode/tasks.json", "except the directory: '.vscode'")):
            self.assertIn(hint, self.refused("--yes", "--unprotect", path, "--exec", "true", status=2))

    def test_a_renamed_directory_keeps_the_users_places(self):
        self.repository(self.project / "nested")
        self.git("config", "core.editor", "vim", cwd=self.project / "nested")
        hook = self.project / "nested/.git/hooks/post-commit"
        hook.write_text("#!/bin/sh\n")
        hook.chmod(0o755)
        (self.project / "sub").mkdir()
        (self.project / "sub/.envrc").write_text("mine\n")
        self.box("sleep 0.2; mv sub sub9; mv nested n2; sleep 0.3; mv sub9 sub8; sleep 0.3")
        self.assertEqual((self.project / "sub8/.envrc").read_text(), "mine\n")
        self.assertTrue((self.project / "n2/.git/hooks/post-commit").exists())
        self.assertIn("vim", (self.project / "n2/.git/config").read_text())
        self.assertEqual(self.quarantine(), [])

    def test_hooks_of_a_nested_repository_cannot_be_overwritten(self):
        self.repository(self.project / "nested")
        hook = self.project / "nested/.git/hooks/post-commit"
        hook.write_text("#!/bin/sh\n# mine\n")
        hook.chmod(0o755)
        self.box("sleep 0.2; echo evil >nested/.git/hooks/post-commit; rm -f nested/.git/hooks/post-commit; sleep 0.3")
        self.assertIn("mine", hook.read_text())

    def test_a_nested_repository_with_samples_can_be_removed(self):
        self.repository(self.project / "nested")
        self.assertEqual(self.box("sleep 0.2; rm -rf nested && echo removed"), "removed\n")

    def test_an_excepted_configuration_can_be_written(self):
        for place in (".git/config", ".git"):
            done = self.claudebox("--yes", "--unprotect", place, "--exec", "sh", "-c", "git config core.pager less; sleep 0.3; git config core.pager")
            self.assertEqual(done.stdout, "less\n", done.stderr)
            self.assertEqual(self.git("config", "core.pager"), "less\n")
            self.git("config", "--unset", "core.pager")
        self.assertEqual(self.quarantine(), [])

    def test_a_round_trip_is_no_change(self):
        (self.project / ".npmrc").write_text("a=b\n")
        self.git("add", ".npmrc")
        self.git("commit", "-qm", "npmrc")
        err = self.claudebox("--yes", "--exec", "sh", "-c", "git switch -q --orphan x && git switch -q main && sleep 0.2").stderr
        self.assertNotIn("changed:", err)

    def test_one_line_about_moved_files_remains_with_quiet(self):
        for count, text in ((1, "1 file"), (12, "12 files")):
            script = f"for i in $(seq {count}); do mkdir -p d$i; echo x >d$i/.envrc; done; sleep 0.5"
            done = self.claudebox("--yes", "--quiet", "--exec", "sh", "-c", script)
            self.assertEqual((done.returncode, done.stderr), (0, f"guard: {text} moved to quarantine: claudebox --quarantine\n"))
    def test_tracked_places_of_new_repositories_are_named(self):
        """A clone has such files and keeps them. So does a repository with an index that the box has made up."""
        err = self.claudebox("--yes", "--exec", "sh", "-c", """git init -q n; mkdir n/.claude; cd n; h=$(echo {} | git hash-object -w --stdin)
                             git update-index --add --cacheinfo 100644,$h,.claude/settings.json; git config core.pager cat; echo '{"hooks":{}}' >.claude/settings.json
                             git init -q ../c; cd ../c; h=$(echo x | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$h,.envrc; git commit -qm x; git clone -q . ../d; sleep 0.3""").stderr
        self.assertIn("guard: changed: ~/project/n/.claude/settings.json (your programs execute it without asking", err)
        self.assertIn("new worktree or repository '~/project/d' with .envrc", err)
        self.assertTrue((self.project / "n/.claude/settings.json").exists())

    def test_changed_places_are_counted(self):
        """Files that the box creates first do not hide another one."""
        err = self.claudebox("--yes", "--exec", "sh", "-c", """git init -q n; cd n; h=$(echo | git hash-object -w --stdin)
                             for i in 1 2 3 4 5 6 7 8 9 10; do mkdir -p d$i; git update-index --add --cacheinfo 100644,$h,d$i/.ghci; done
                             for i in 1 2 3 4 5 6 7 8 9 10; do echo x >d$i/.ghci; done; sleep 0.3""").stderr
        self.assertEqual(err.count("guard: changed: ~/project/n/d"), 8, err)
        self.assertIn("guard: changed: 2 more (your programs execute it without asking)", err)

    def test_moved_files_are_counted_once(self):
        err = self.claudebox("--yes", "--exec", "sh", "-c", "for i in $(seq 20); do mkdir d$i; echo x >d$i/.envrc; done; sleep 0.5").stderr
        self.assertEqual(err.count("moved to quarantine: "), 8, err)
        self.assertIn("and 12 more", err)


class Checked(MoreTest):
    def row(self, *prefix, **options):
        done = subprocess.run([*prefix, CLAUDEBOX, "--check=json"], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True, check=False, timeout=60, **options)
        return next(row for row in json.loads(done.stdout)["checks"] if row["name"] == "guard")

    def limited(self, name, value):
        """Returns the row with a limit of the user namespace."""
        return self.row("unshare", "-Ur", "sh", "-ec", f'echo {value} >/proc/sys/user/{name}; exec "$@"', "sh")

    def test_check_compares_the_directories_with_the_watches(self):
        for name in ("a/b/c", "node_modules/x/y", "d"):
            (self.project / name).mkdir(parents=True)
        count = int(re.match(r"watches (\d+) directories, of \d+ inotify watches$", self.row()["detail"])[1])
        self.assertEqual(count, sum("node_modules" not in path for path, _, _ in os.walk(self.project)))
        row = self.limited("max_inotify_watches", 3)
        self.assertEqual((row["state"], row["required"]), ("broken", True))
        self.assertIn(f"has {count} directories, and the kernel allows 3 inotify watches", row["detail"])
        self.assertEqual(row["fix"], "run `sudo sysctl fs.inotify.max_user_watches=524288`")

    def test_no_start_without_a_question_if_not_all_directories_can_be_watched(self):
        for i in range(30):
            (self.project / f"directory-{i}").mkdir()
        done = subprocess.run(["unshare", "-Ur", "sh", "-ec", 'echo 20 >/proc/sys/user/max_inotify_watches; exec "$@"', "sh", CLAUDEBOX, "--yes", "--exec",
                               "touch", "started"], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              check=False, timeout=60)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("cannot watch all directories of the project: the kernel's limit of inotify watches is reached", done.stderr)
        self.assertFalse((self.project / "started").exists())

    def test_check_names_a_machine_without_inotify_instances(self):
        row = self.limited("max_inotify_instances", 0)
        self.assertIn("cannot watch the project: Too many open files", row["detail"])
        self.assertIn("fs.inotify.max_user_instances", row["fix"])

    def test_check_says_that_the_configuration_is_read_only_without_link_mounts(self):
        row = self.row(preexec_fn=kernel.without("open_tree"))
        self.assertEqual(row["state"], "ok")
        self.assertIn("git's configuration is read-only in the box", row["detail"])

    def test_without_link_mounts_the_configuration_is_read_only(self):
        before = (self.project / ".git/config").read_text()
        done = self.claudebox("--yes", "--exec", "sh", "-c", "git config user.name x || echo refused; echo x >.git/config || echo blocked; git status -s",
                              preexec_fn=kernel.without("open_tree", "move_mount"))
        self.assertEqual(done.stdout, "refused\nblocked\n", done.stderr)
        self.assertEqual((self.project / ".git/config").read_text(), before)

    def test_a_read_only_project_needs_none(self):
        self.profile(project="read-only")
        self.assertEqual(self.row()["detail"], "not needed: the project is read-only")


class Told(MoreTest, InstructionsTest):
    def test_the_instructions_name_what_is_protected(self):
        names = [".claude/settings.json", ".mcp.json", ".vscode/x", ".envrc", ".cargo/config.toml"]
        (self.project / ".envrc").write_text("mine\n")
        told, out = self.told("for f; do mkdir -p $(dirname $f); echo x >$f || echo read-only; done; sleep 0.3; for f; do [ -e $f ] && echo $f; done", *names)
        self.assertTold(told, "Protected are files that programs of the user execute", "Such a file is read-only if it exists")
        for name in (".claude/settings.json", ".mcp.json", ".vscode", ".envrc", ".cargo/config.toml"):
            self.assertTold([sentence for sentence in told if f"`{name}`" in sentence], "Protected are")
        self.assertEqual(out, "read-only\n.envrc\n")
        names.remove(".envrc")
        self.assertEqual(self.quarantine(), sorted(names))
        told, out = self.told("mkdir -p .vscode; echo x >.vscode/x; sleep 0.3; cat .vscode/x", options=("--unprotect", ".vscode"))
        self.assertTold(told, "If the user wants such a file")
        self.assertTold(told, "`.vscode` is not protected in this session: the user lets you write it")
        self.assertEqual(out, "x\n")

    def test_the_instructions_say_which_settings_of_git_stay_in_the_box(self):
        told, out = self.told("git config branch.main.description text; git config core.fsmonitor /tmp/evil; git config core.fsmonitor")
        self.assertTold(told, "Settings that you change with `git config` reach")
        self.assertEqual(out, "/tmp/evil\n")
        self.assertEqual(self.git("config", "branch.main.description"), "text\n")
        self.assertNotIn("fsmonitor", (self.project / ".git/config").read_text())
        self.assertNotTold(self.told("true", cwd=self.scratch())[0], "git config")

    def test_a_read_only_project_is_told_nothing_about_it(self):
        self.profile(project="read-only")
        self.assertNotTold(self.told("true")[0], "Protected are")
