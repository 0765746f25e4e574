# SPDX-License-Identifier: MIT
"""The table of git commands in doc/git.md: the exit status in the box, and what the user's repository has afterwards."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from lib.box import BoxTest

STAGE = pathlib.Path(os.environ["STAGE"])
AS_OUTSIDE = "as outside"
STAYS = "stays in the box; a line at the end names it"
TOLD = "as outside; a line at the end names it"
QUIET = "stays in the box, without a line"
STASH = "refused, nothing is changed; name other paths, or run it outside"
CLEAN = "as outside, but protected files stay, with a warning for each"

# What the host runs before the box starts, for a command of the table.
ON_THE_HOST = {
    "git remote rename": "git remote add far /srv/far; git config branch.side.remote far",
    "git submodule deinit": "git config submodule.lib.url /srv/lib; git config submodule.lib.active true",
    "git submodule set-url": "git config submodule.lib.url /srv/lib; git config submodule.lib.active true",
    "git stash -u": "echo x >loose",
    "git stash -u, with a protected file": "echo x >.envrc; echo x >loose",
    "git stash -a, with a protected file": "echo x >.envrc; echo .envrc >>.git/info/exclude",
    "git stash push -u -- PATHS": "echo x >.envrc; echo x >loose",
    "git clean -fd": "echo x >.envrc; echo x >loose",
    "git clean -ffdx": "mkdir .vscode; echo x >.vscode/x; echo .vscode >>.git/info/exclude; echo x >loose",
    "git config --unset core.hooksPath": "git config core.hooksPath /dev/null",
    "git remote add NAME PATH, with the path of another remote": "git remote set-url near /srv/near",
    "git remote remove": "git remote set-url near /srv/near",
    "git config --unset transfer.fsckObjects": "git config transfer.fsckObjects true",
}

# The command of the table, a command before it, the command itself, one that succeeds on the host if the effect is there, the exit status in the box, the effect.
COMMANDS = [
    ("git commit", "echo two >file.txt", "git commit -qam two", "git log -1 --format=%s | grep -x two", 0, AS_OUTSIDE),
    ("git commit --amend", "", "git commit -q --amend -m other", "git log -1 --format=%s | grep -x other", 0, AS_OUTSIDE),
    ("git branch NAME", "", "git branch topic", "git rev-parse -q --verify topic", 0, AS_OUTSIDE),
    ("git branch -m OLD NEW", "",
     "git branch -m side renamed", "git rev-parse -q --verify renamed && git config branch.renamed.remote", 0, AS_OUTSIDE),
    ("git branch -D NAME", "", "git branch -q -D side", "! git rev-parse -q --verify side && ! git config branch.side.remote", 0, AS_OUTSIDE),
    ("git checkout -b NAME origin/NAME", "",
     "git checkout -q -b topic origin/main", "git rev-parse --abbrev-ref topic@{upstream} | grep -x origin/main", 0, AS_OUTSIDE),
    ("git push -u", "", "git push -q -u near main", "test $(git config branch.main.remote) = near", 0, AS_OUTSIDE),
    ("git fetch", "", "git fetch -q near", "git rev-parse -q --verify near/main", 0, AS_OUTSIDE),
    ("git merge", "", "git merge -q -m merged side", "test -e s", 0, AS_OUTSIDE),
    ("git rebase", "", "git checkout -q side && git rebase -q main", "git merge-base --is-ancestor main side", 0, AS_OUTSIDE),
    ("git cherry-pick", "", "git cherry-pick side", "test -e s", 0, AS_OUTSIDE),
    ("git stash", "echo x >>file.txt", "git stash -q", "git stash list | grep -q .", 0, AS_OUTSIDE),
    ("git stash -u", "", "git stash -q -u", "git stash list | grep -q . && test ! -e loose", 0, AS_OUTSIDE),
    ("git stash -u, with a protected file", "", "git stash -q -u", "git stash list | grep -q . || test ! -e loose", 128, STASH),
    ("git stash -a, with a protected file", "", "git stash -q -a", "git stash list | grep -q .", 128, STASH),
    ("git stash push -u -- PATHS", "", "git stash push -q -u -- loose", "git stash list | grep -q . && test ! -e loose && test -e .envrc", 0, AS_OUTSIDE),
    ("git clean -fd", "", "git clean -q -fd", "test ! -e .envrc || test -e loose", 1, CLEAN),
    ("git clean -ffdx", "", "git clean -q -ffdx", "test ! -e .vscode/x || test -e loose", 1, CLEAN),
    ("git tag", "", "git tag v1", "git rev-parse -q --verify v1", 0, AS_OUTSIDE),
    ("git bisect", "", "git bisect start && git bisect reset", "git status", 0, AS_OUTSIDE),
    ("git gc", "", "git gc -q", "git fsck", 0, AS_OUTSIDE),
    ("git worktree add", "", "git worktree add -q .worktrees/w side", "git -C .worktrees/w status", 0, AS_OUTSIDE),
    ("git worktree remove", "git worktree add -q .worktrees/w side", "git worktree remove .worktrees/w", "test ! -e .worktrees/w", 0, AS_OUTSIDE),
    ("git worktree remove OLD", "", "git worktree remove .worktrees/old", "test ! -e .worktrees/old", 128,
     "refused, nothing is changed; run it outside"),
    ("git worktree move OLD NEW", "", "git worktree move .worktrees/old .worktrees/new", "test -e .worktrees/new", 128,
     "refused, nothing is changed; run it outside"),
    ("git refs migrate", "", "git refs migrate --ref-format=reftable", "test -e .git/reftable", 128, "refused, nothing is changed; run it outside"),
    ("git worktree prune", "", "git worktree prune", "test ! -e .git/worktrees/gone", 0, "keeps the records from before the start"),
    ("git sparse-checkout set", "",
     "git sparse-checkout set --no-cone /s && git checkout -q side", "git config --worktree core.sparseCheckout", 0, TOLD),
    ("git remote add", "", "git remote add other https://example.com/x", "git remote | grep -x other", 0, AS_OUTSIDE),
    ("git remote add NAME PATH", "", "git remote add up /srv/up", "git config --get-regexp '^remote.up'", 0, STAYS),
    ("git remote add NAME node_modules/PATH", "", "git remote add up ./node_modules/e.git", "git config --get-regexp '^remote.up'", 0, STAYS),
    ("git remote add, with the address of another remote", "", "git remote add again https://example.com/z", "git remote get-url again | grep example.com/z", 0, AS_OUTSIDE),
    ("git remote add NAME PATH, with the path of another remote", "", "git remote add again /srv/near", "git remote get-url again | grep -x /srv/near", 0, AS_OUTSIDE),
    ("git remote rename", "", "git remote rename far o2",
     "test $(git remote get-url o2) = /srv/far && test $(git config branch.side.remote) = o2 && ! git config --get-regexp '^remote.far'", 0, AS_OUTSIDE),
    ("git remote remove", "", "git remote remove near", "! git remote | grep -x near && ! git config --get-regexp '^remote.near'", 0, AS_OUTSIDE),
    ("git remote set-url", "", "git remote set-url near https://example.com/y", "git remote get-url near | grep example.com/y", 0, STAYS),
    ("git remote set-url --push", "", "git remote set-url --push near https://example.com/y", "git config remote.near.pushurl", 0, STAYS),
    ("git config remote.pushDefault", "", "git config remote.pushDefault near", "git config remote.pushDefault", 0, STAYS),
    ("git branch -u", "", "git branch -q -u origin/main main", "test $(git config branch.main.remote) = origin", 0, AS_OUTSIDE),
    ("git branch -u, of a branch with another remote", "git fetch -q near",
     "git branch -q -u near/main side", "test $(git config branch.side.remote) = near", 0, STAYS),
    ("git branch --unset-upstream", "", "git branch --unset-upstream side", "! git config branch.side.remote", 0, AS_OUTSIDE),
    ("git config user.name", "", "git config user.name Bob", "git config --local user.name | grep -x Bob", 0, TOLD),
    ("git config --unset", "git config user.name Bob", "git config --unset user.name", "! git config --local user.name", 0, AS_OUTSIDE),
    ("git config --unset core.hooksPath", "", "git config --unset core.hooksPath", "! git config core.hooksPath", 0, STAYS),
    ("git config --unset transfer.fsckObjects", "",
     "git config --unset transfer.fsckObjects", "! git config transfer.fsckObjects", 0, STAYS),
    ("git config core.fileMode", "", "git config core.fileMode false", "test $(git config core.fileMode) = false", 0, QUIET),
    ("git config gc.pruneExpire", "", "git config gc.pruneExpire now", "git config gc.pruneExpire", 0, STAYS),
    ("git config status.showUntrackedFiles no", "",
     "git config status.showUntrackedFiles no", "git config status.showUntrackedFiles", 0, STAYS),
    ("git config core.commentChar", "", "git config core.commentChar p", "git config core.commentChar", 0, STAYS),
    ("git config core.repositoryFormatVersion", "",
     "git config core.repositoryFormatVersion 1", "test $(git config core.repositoryFormatVersion) = 1", 0, STAYS),
    ("git config core.hooksPath", "",
     "git config core.hooksPath hooks", "git config core.hooksPath", 0, STAYS),
    ("git config core.fsmonitor", "",
     "git config core.fsmonitor ./x", "git config core.fsmonitor", 0, STAYS),
    ("git config alias.NAME '!COMMAND'", "", "git config alias.x '!true'", "git config alias.x", 0, STAYS),
    ("git config alias.NAME COMMAND", "", "git config alias.co checkout", "git config alias.co", 0, STAYS),
    ("git config --global", "",
     "git config --global user.name Bob", "git config --global user.name | grep -x Bob", 0, "in the home of the box, not in yours"),
    ("git submodule add", "",
     "git -c url.$PWD/store.insteadOf=https://example.com/s -c protocol.file.allow=always submodule --quiet add https://example.com/s lib", "test -e lib/file.txt && git config submodule.lib.url", 0, AS_OUTSIDE),
    ("git submodule update --init", "",
     "git checkout -q with-sub && git -c protocol.file.allow=always submodule --quiet update --init", "test -e lib/file.txt && git -C lib log -1", 0, AS_OUTSIDE),
    ("git submodule deinit", "",
     "git checkout -q with-sub && git submodule --quiet deinit -f lib", "! git config --get-regexp '^submodule.lib'", 0, AS_OUTSIDE),
    ("git submodule set-url", "",
     "git checkout -q with-sub && git submodule set-url lib https://example.com/l", "git config submodule.lib.url | grep example.com/l", 0, AS_OUTSIDE),
    ("git init", "", "git init -q", "test $(git config core.fileMode) = true && ! git config core.symlinks", 0, AS_OUTSIDE),
    ("git init DIRECTORY", "", "git init -q new", "git -C new status", 0, AS_OUTSIDE),
    ("git clone", "", "git clone -q . copy", "git -C copy log -1", 0, AS_OUTSIDE),
    ("a new file in .git/hooks", "", "echo true >.git/hooks/pre-commit", "test -e .git/hooks/pre-commit", 2, "refused: read-only file system"),
    ("a new executable file in the hooks of a nested repository", "git init -q new",
     "echo true >new/.git/hooks/pre-commit; chmod +x new/.git/hooks/pre-commit; sleep 0.3", "test -e new/.git/hooks/pre-commit", 0, "moved to quarantine"),
    ("a new file in the hooks of a nested repository that git cannot execute", "git init -q new",
     "echo true >new/.git/hooks/pre-commit; sleep 0.3", "test -e new/.git/hooks/pre-commit", 0, AS_OUTSIDE),
    ("a new .git/info/attributes", "",
     "echo '*.x filter=y' >.git/info/attributes; sleep 0.3", "test -e .git/info/attributes", 0, "moved to quarantine"),
    ("a new symbolic link in .git", "", "ln -s config .git/COMMIT_EDITMSG.new; sleep 0.3", "test -L .git/COMMIT_EDITMSG.new", 0, "moved to quarantine"),
    ("git config --worktree", "git config extensions.worktreeConfig true",
     "git config --worktree user.name Bob", "git config --worktree user.name | grep -x Bob", 0, TOLD),
]


def title(name):
    """Returns the first cell of a row: the command is marked as code."""
    command, comma, rest = name.partition(", ")
    return name if name.startswith("a new") else f"`{command}`{comma}{rest}"


class Commands(BoxTest):
    def new(self):
        """Returns a project with two branches, a remote in it, one elsewhere, and a branch `with-sub` whose submodule is missing."""
        project = self.repository(self.scratch() / "project")

        def git(*arguments):
            self.git(*arguments, cwd=project)

        git("clone", "-q", "--bare", "--no-hardlinks", ".", "store")
        (project / ".git/info/exclude").write_text("store\ncopy\nnew\n.worktrees\n")
        git("worktree", "add", "-q", "--detach", ".worktrees/old")
        git("worktree", "add", "-q", "--detach", ".worktrees/gone")
        shutil.rmtree(project / ".worktrees/gone")
        git("remote", "add", "near", "./store")
        git("remote", "add", "origin", "https://example.com/z")
        git("update-ref", "refs/remotes/origin/main", "HEAD")
        git("checkout", "-q", "-b", "side", "--track", "origin/main")
        (project / "s").write_text("s\n")
        git("add", "s")
        git("commit", "-qm", "side")
        git("checkout", "-q", "-b", "with-sub", "main")
        git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", project / "store", "lib")
        git("commit", "-qm", "lib")
        git("submodule", "--quiet", "deinit", "-f", "lib")
        git("checkout", "-q", "main")
        shutil.rmtree(project / ".git/modules")
        shutil.rmtree(project / "lib", ignore_errors=True)
        return project

    def test_every_command_does_what_the_table_says(self):
        for name, before, command, effect, status, text in COMMANDS:
            with self.subTest(name):
                project = self.new()
                subprocess.run(["sh", "-c", ON_THE_HOST.get(name, ":")], cwd=project, env=self.env, check=True)
                done = self.claudebox("--yes", "--exec", "sh", "-c", f"{{ {before or ':'}; }} >/dev/null 2>&1; {command}", cwd=project)
                self.assertEqual(done.returncode, status, done.stderr)
                there = subprocess.run(["sh", "-c", effect], cwd=project, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, check=False)
                self.assertEqual(there.returncode == 0, text in (AS_OUTSIDE, TOLD), there.stdout + done.stderr)
                if "quarantine" in text:
                    self.assertIn("guard: moved to quarantine: ", done.stderr)
                applied = re.findall(r"(?m)^guard: applied to '\S*/\.git/config\S*': (.*)$", done.stderr)
                self.assertEqual(bool(applied), text == TOLD, done.stderr)
                if text == STAYS:
                    self.assertRegex(done.stderr, r"(?m)guard: settings of '\S*/\.git/config' that .*: \S.*( \(claudebox --quarantine has the new values\))?$")
                else:
                    self.assertNotIn("guard: settings of", done.stderr)

    def test_no_configuration_leads_a_push_into_dependencies(self):
        project = self.new()
        done = self.claudebox("--yes", "--exec", "sh", "-c", """
        mkdir -p node_modules; git init -q --bare node_modules/e.git; ln -s node_modules/e.git link; git init -q new
        git remote add direct ./node_modules/e.git; git remote add linked ./link; git config remote.near.push main
        git config branch.main.remote ./node_modules/e.git; git config remote.https://example.com/z.url https://example.com/evil
        git -C new remote add direct "$PWD/node_modules/e.git"; git -C new remote add linked "$PWD/link"
        git -C new config remote.pushDefault ../node_modules/e.git; sleep 0.3; git -C new remote add fine "$PWD/store"
        git config extensions.worktreeConfig true; git config --worktree remote.near.pushurl https://example.com/evil
        sleep 0.3""", cwd=project)
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in (".git/config", ".git/config.worktree", "new/.git/config"):
            text = (project / path).read_text()
            for word in ("node_modules", "/link\n", "evil", "push"):
                self.assertNotIn(word, text, path)
        self.assertIn("/store", text)

    def stash(self, project, *commands):
        """Runs commands in a box. Returns their exit statuses and the errors; a refusal has changed nothing."""
        def state():
            return [subprocess.run(["git", *words], cwd=project, env=self.env, stdout=subprocess.PIPE, text=True, check=True).stdout
                    for words in (("stash", "list"), ("status", "--porcelain", "-uall", "--ignored"), ("diff", "HEAD"), ("ls-files", "-s"))]

        statuses, errors = [], ""
        for command in commands:
            before = state()
            done = self.claudebox("--yes", "--quiet", "--exec", "sh", "-c", command, cwd=project)
            statuses.append(done.returncode)
            errors += done.stderr
            if done.returncode == 128:
                self.assertEqual(state(), before, command)
        return statuses, errors

    def protected(self):
        """Returns a project with untracked files, some of which are protected, and a change."""
        project = self.repository(self.scratch() / "project")
        for name in (".envrc", ".vscode/a b", "sub/deep/.envrc", "sub/own", "other/own", "loose", "ign/.envrc", "ign/own"):
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text("x\n")
        (project / ".git/info/exclude").write_text("ign\n")
        (project / "file.txt").write_text("two\n")
        return project

    def test_each_form_of_a_stash_that_git_would_leave_half_done_is_refused(self):
        project = self.protected()
        self.git("config", "alias.wip", "stash push -u", cwd=project)
        self.git("config", "alias.shelve", "!git stash -u", cwd=project)
        self.git("config", "alias.again", "wip -q", cwd=project)
        forms = ["git stash -u", "git stash --include-untracked", "git stash --inc", "git stash -a", "git stash --all", "git stash push -u", "git stash push -qku",
                 "git stash push -m text -u", "git stash push -mu -a", "git stash push --message text -u", "git stash push --message=text -u", "git stash save -u text",
                 "git stash save -a a text", "git stash push -u -- .", "git stash push -u .envrc", "git stash push .envrc -u", "git stash push -u -- '.vscode/a b'",
                 "git stash push -u -- .vscode", "git stash push -u sub", "git stash push -a ign", "cd sub; git stash push -u -- deep", "cd sub; git stash -u",
                 "git -C sub stash -u", "git -c user.name=x stash -u", "git wip", "git again", "git shelve", "git -c alias.x=wip x", "git stash --no-all -u"]
        statuses, errors = self.stash(project, *forms)
        self.assertEqual(dict(zip(forms, statuses)), dict.fromkeys(forms, 128))
        self.assertEqual(errors.count("is protected, and git cannot remove it in this box, so nothing was changed."), len(forms))
        self.assertEqual(errors.count("git stash push -u -- PATHS"), len(forms))

    def test_every_other_stash_is_that_of_git(self):
        """Each is undone by its pop."""
        project = self.protected()
        for form in ("git stash", "git stash push", "git stash -q", "git stash push -m -u", "git stash push -mu", "git stash push --message -u", "git stash save -- -u",
                     "git stash push -- file.txt", "git stash push -u loose", "git stash push -u -- loose other file.txt", "git stash push -u -- sub/own",
                     "git stash push -u -- . ':!.envrc' ':!.vscode' ':!sub'", "cd other; git stash push -u .", "git stash push -a -- ign/own",
                     "git stash -u --no-include-untracked"):
            statuses, errors = self.stash(project, f"({form}) && git stash list | grep -q . && git stash pop -q && git stash list")
            self.assertEqual((statuses, errors), ([0], ""), form)
            self.assertEqual((project / "file.txt").read_text(), "two\n", form)
            for name in (".envrc", ".vscode/a b", "sub/own", "other/own", "loose", "ign/own"):
                self.assertTrue((project / name).exists(), f"{form}: {name}")
        statuses, errors = self.stash(project, "git stash list", "git stash nosuch -u", "git stash show -u")
        self.assertEqual(statuses[0], 0)
        self.assertNotIn("claudebox", errors)

    def test_a_stash_with_a_protected_directory_alone(self):
        project = self.repository(self.scratch() / "project")
        self.git("config", "core.hooksPath", "tools/hooks", cwd=project)
        (project / "tools/hooks").mkdir(parents=True)
        (project / "file.txt").write_text("two\n")
        self.assertEqual(self.stash(project, "git stash -u", "git stash push -u file.txt && git stash pop -q")[0], [128, 0])

    def test_a_stash_without_protected_files_and_in_other_repositories(self):
        project = self.repository(self.scratch() / "project")
        (project / "loose").write_text("x\n")
        nested = self.repository(project / "nested")
        (nested / ".git/hooks/pre-push").write_text("#!/bin/sh\n")
        (nested / ".git/hooks/pre-push").chmod(0o755)
        self.assertEqual(self.stash(project, "git stash -u && test ! -e loose && git stash pop -q", "cd nested && echo x >y && git stash -u && git stash pop -q")[0], [0, 0])
        (nested / ".envrc").write_text("x\n")
        self.assertEqual(self.stash(project, "git stash -q -u && git stash pop -q", "git -C nested stash -u", "cd nested; git stash -u")[0], [0, 128, 128])
        self.assertEqual(self.stash(project, "cd /tmp && git init -q x && cd x && git commit -q --allow-empty -m x && echo x >.envrc && git stash -u")[0], [0])

    def test_one_line_names_what_stays_in_the_box(self):
        project = self.new()
        self.git("config", "core.hooksPath", "/dev/null", cwd=project)
        done = self.claudebox("--yes", "--exec", "sh", "-c",
                              "git config core.pager less; git config foo.bar 1; git config --unset core.hooksPath; git config user.name Bob", cwd=project)
        self.assertEqual([line for line in done.stderr.splitlines() if line.startswith("guard: settings")],
                         [f"guard: settings of '{project}/.git/config' that claudebox does not apply outside: core.pager, foo.bar; "
                          "settings that the box removed, and that stay: core.hookspath (claudebox --quarantine has the new values)"])

    def test_the_document_has_these_rows(self):
        rows = [line for line in (STAGE / "doc/git.md").read_text().splitlines() if line.startswith("| ")]
        for name, _, _, _, status, text in COMMANDS:
            self.assertIn(f"| {title(name)} | {status} | {text} |", rows)
