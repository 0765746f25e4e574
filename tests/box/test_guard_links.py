# SPDX-License-Identifier: MIT
"""Symbolic links and special files that a box creates in git directories: the user's git follows none of them."""
import os
import pathlib
import shutil
import subprocess
import time

from box.test_guard import GuardTest
from lib.box import CLAUDEBOX

AS_ROOT = True

# Names in a git directory that git writes without a lock and a rename, or reads as a directory.
NAMES = ["COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "FETCH_HEAD", "ORIG_HEAD", "logs/HEAD", "logs/refs/heads/main", "rr-cache", "rebase-merge",
         "rebase-apply", "sequencer", "modules", "worktrees", "lfs", "info/exclude", "refs/heads/x", "refs/tags", "objects/pack", "objects/info", "new", "index"]
BEGIN = 'set +e; G=$(git rev-parse --absolute-git-dir); C=$(git rev-parse --path-format=absolute --git-common-dir)\n'
# A repository that the box creates.
MADE = "git init -q -b main made; cd made; git -c user.name=x -c user.email=x commit -q --allow-empty -m first\n"


class LinksTest(GuardTest):
    def setUp(self):
        super().setUp()
        for name in ("project", "one", "two", "nested"):  # what an earlier repetition has changed
            self.assertFalse((self.home / name / ".git/logs").is_symlink())
        self.precious = self.home / "precious"
        self.precious.write_text("precious\n")

    def repositories(self):
        """Yields a name, the directory where the box starts, the repository, and the beginning of the box's script."""
        yield "project", self.project, self.project, BEGIN
        main = self.repository(self.home / "main")
        self.git("worktree", "add", "-q", self.home / "tree", cwd=main)
        yield "worktree", self.home / "tree", self.home / "tree", BEGIN
        outer = self.repository(self.home / "outer")
        yield "nested", outer, self.repository(outer / "nested"), "cd nested; " + BEGIN
        other = self.repository(self.home / "other")
        yield "made", other, other / "made", MADE + BEGIN

    def common(self, repository):
        return pathlib.Path(self.git("rev-parse", "--path-format=absolute", "--git-common-dir", cwd=repository).strip())

    def links(self, *directories):
        """Returns what is no file and no directory in git directories."""
        return sorted(str(path) for directory in directories for path in directory.rglob("*")
                      if path.is_symlink() or not (path.is_file() or path.is_dir()))

    def host(self, repository, *commands):
        """Runs commands of the user, who does not know what the box has prepared."""
        for command in commands:
            subprocess.run(["sh", "-c", command], cwd=repository, env={**self.env, "GIT_EDITOR": "true"}, check=False, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=20)


    def limited(self, watches, script):
        """Runs a script in a box, with a limit of inotify watches."""
        return subprocess.run(["unshare", "-Ur", "sh", "-ec", f'echo {watches} >/proc/sys/user/max_inotify_watches; exec "$@"', "sh", CLAUDEBOX, "--yes", "--exec",
                               "sh", "-c", script], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=120)


class WrittenThrough(LinksTest):
    """Git writes reflogs and messages of commits through links."""

    def test_no_commit_of_the_user_writes_through_a_link(self):
        """The reflog gets a name that the box has chosen, and the message of the commit is that of a merge."""
        for name, cwd, repository, begin in self.repositories():
            with self.subTest(name):
                hook = None
                if name != "made":
                    hook = self.common(repository) / "hooks/post-commit"
                    hook.parent.mkdir(exist_ok=True)
                    hook.write_text("#!/bin/sh\ntrue\n")
                    hook.chmod(0o755)
                out = self.box(begin + f"""
                git config user.name 'a;touch {self.marker} #'; git config user.email a
                mkdir -p $C/logs/refs/heads; B=$(git symbolic-ref --short HEAD)
                ln -sf $C/hooks/post-commit $G/logs/HEAD; ln -sf {self.precious} $C/logs/refs/heads/$B; ln -sf $C/config $G/COMMIT_EDITMSG
                printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "touch {self.marker}; false"\\n' >$G/MERGE_MSG
                echo x >staged; git add staged; sleep 0.4; find $G $C -type l""", cwd=cwd)
                self.assertEqual(out, "")
                config = (self.common(repository) / "config").read_text()
                self.host(repository, "git commit -q", "git commit -q --allow-empty -m two", "git commit -q --allow-empty -m three", "git status", "git status")
                self.assertFalse(self.marker.exists())
                self.assertIn("three", self.git("log", "--format=%s", cwd=repository))
                self.assertEqual((self.common(repository) / "config").read_text(), config)
                self.assertEqual(self.precious.read_text(), "precious\n")
                if hook:
                    self.assertEqual(hook.read_text(), "#!/bin/sh\ntrue\n")

    def test_a_link_of_any_name_is_moved_while_the_box_runs(self):
        for name, cwd, repository, begin in self.repositories():
            with self.subTest(name):
                out = self.box(begin + f"for n in {' '.join(NAMES)}; do mkdir -p $G/$(dirname $n); mv -T $G/$n $G/was-$(echo $n | tr / -) 2>/dev/null; "
                               f"ln -s {self.precious} $G/$n; done; sleep 0.5; find $G -type l", cwd=cwd)
                self.assertLessEqual(set(out.split()), {self.git_file(repository, "objects/pack")})  # not watched: found at the end
                self.assertEqual(self.links(self.common(repository)), [])
                self.assertEqual(self.precious.read_text(), "precious\n")

    def git_file(self, repository, name):
        git = repository / ".git"
        return str((git if git.is_dir() else self.home / "main/.git/worktrees/tree") / name)

    def test_links_that_are_there_before_an_event_can_be_handled(self):
        """The box ends at once, renames directories with prepared links, or creates links before the directory is a repository."""
        prepared = "mkdir $C/p; ln -s {0} $C/p/HEAD; mkdir -p $C/p/refs/heads; ln -s {0} $C/p/refs/heads/main; "
        scripts = {
            "end": "ln -sf {0} $G/logs/HEAD; ln -sf {0} $G/COMMIT_EDITMSG",
            "deep": "mkdir -p $C/logs/refs/heads/a/b/c; ln -s {0} $C/logs/refs/heads/a/b/c/d; mkdir -p $C/rr-cache/x; ln -s {0} $C/rr-cache/x/preimage",
            "renamed": prepared + "mv $C/logs $C/l2; mv $C/p $C/logs",
            "behind": prepared + "mv $C/logs $C/l2; ln -s p $C/logs",
            "chain": "mv $C/logs $C/l2; ln -s a $C/logs; ln -s b $C/a; ln -s l2 $C/b",
            "file": "echo x >$C/f; rm -f $C/logs/HEAD; ln -s {0} $C/logs/.x; mv $C/logs/.x $C/logs/HEAD",
            "second name": "ln -s {0} l; ln -P l $C/logs/l2; rm l",
            "outside": "ln -s {0} l; mv l $C/FETCH_HEAD",
            "readable": "ln -s {0} $C/logs/refs/x; chmod 311 $C/logs/refs",
        }
        for name, cwd, repository, begin in self.repositories():
            for case, script in scripts.items():
                with self.subTest(name=name, case=case):
                    self.box((begin if name != "made" or not repository.exists() else "cd made; " + BEGIN) + script.format(self.precious), cwd=cwd)
                    common = self.common(repository)
                    if case == "readable":
                        self.assertEqual((common / "logs/refs").stat().st_mode & 0o777, 0o311)
                        (common / "logs/refs").chmod(0o755)
                    self.assertEqual(self.links(common), [])
                    shutil.rmtree(common / "p", ignore_errors=True)
                    for directory in ("l2",):
                        if (common / directory).is_dir():
                            shutil.rmtree(common / "logs", ignore_errors=True)
                            (common / directory).rename(common / "logs")

    def test_links_that_an_earlier_box_has_prepared(self):
        """A rename of the directory around a link does not change the time of the link."""
        self.repository(self.project / "nested")
        for git in (".git", "nested/.git"):
            with self.subTest(git):
                self.box(f"mkdir -p payload/refs/heads; ln -s {self.precious} payload/HEAD; ln -s {self.precious} payload/refs/heads/main; sleep 0.2")
                self.assertTrue((self.project / "payload/HEAD").is_symlink())
                time.sleep(0.05)
                self.box(f"sleep 0.2; mv {git}/logs l2; mv payload {git}/logs; sleep 0.3; find {git} -type l >listed")
                self.assertEqual((self.project / "listed").read_text(), "")
                self.assertEqual(self.links(self.project / git), [])
                shutil.rmtree(self.project / git / "logs")
                (self.project / "l2").rename(self.project / git / "logs")

    def test_links_that_are_renamed_before_all_is_searched(self):
        for i in range(3000):
            (self.project / f"many/{i % 50}/d{i}").mkdir(parents=True)
        self.box(f"mkdir -p payload/refs/heads; ln -s {self.precious} payload/HEAD; ln -s {self.precious} payload/refs/heads/main; sleep 0.2")
        time.sleep(0.05)
        self.box("mv .git/logs l2; mv payload .git/logs")
        self.assertTrue((self.project / "l2").is_dir())
        self.assertEqual(self.links(self.project / ".git"), [])

    def test_a_repository_that_becomes_one_after_its_links(self):
        self.box(f"mkdir -p half/logs half.git/logs; ln -s {self.precious} half/logs/HEAD; ln -s {self.precious} half.git/logs/HEAD; ln -s {self.precious} half.git/FETCH_HEAD; "
                 "mkdir half.git/refs half.git/objects; sleep 0.2; cp .git/HEAD half.git/; mkdir t; mv half t/.git; sleep 0.3")
        self.assertEqual(self.links(self.project / "half.git", self.project / "t"), [])
        self.box(f"mkdir -p u/.git/logs; ln -s {self.precious} u/.git/logs/HEAD")  # the user can make a repository of it
        self.host(self.project, "git init -q u", "git -C u commit --allow-empty -m x")
        self.assertEqual(self.precious.read_text(), "precious\n")

    def test_a_repository_that_the_user_completes(self):
        """`git init` keeps the configuration and the hooks that it finds."""
        self.box(f"""mkdir -p v/.git/hooks w; printf '[core]\\n\\tfsmonitor = "touch {self.marker}; false"\\n' >v/.git/config; printf '#!/bin/sh\\ntouch {self.marker}\\n' >x
                 chmod +x x; cp x v/.git/hooks/pre-commit; cp -r v/.git w/g; mv w/g w/.git; sleep 0.3""")
        for name in ("v", "w"):
            self.host(self.project, f"git init -q {name}", f"git -C {name} status", f"git -C {name} commit --allow-empty -m x")
        self.assertFalse(self.marker.exists())
        half = self.project / "old/.git"  # one that the user has
        half.mkdir(parents=True)
        (half / "config").write_text("[core]\n\tpager = less\n")
        self.box("sleep 0.2; echo >old/.git/description; sleep 0.2")
        self.assertIn("pager", (half / "config").read_text())

    def test_a_bare_repository(self):
        self.git("init", "-q", "--bare", self.project / "old.git")
        self.box(f"git init -q --bare new.git; for r in old.git new.git; do mkdir -p $r/logs/refs/heads; ln -s {self.precious} $r/logs/refs/heads/main; "
                 f"ln -s {self.precious} $r/FETCH_HEAD; done; sleep 0.3; find old.git new.git -type l >listed")
        self.assertEqual((self.project / "listed").read_text(), "")
        self.assertEqual(self.links(self.project / "old.git", self.project / "new.git"), [])

    def test_special_files_do_not_block_git(self):
        for name, cwd, repository, begin in self.repositories():
            with self.subTest(name):
                script = """rm -f $G/COMMIT_EDITMSG; mkfifo $G/COMMIT_EDITMSG $C/logs/x
                python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' $G/fsmonitor--daemon.ipc; sleep 0.3; find $G ! -type f ! -type d"""
                self.assertEqual(self.box(begin + script, cwd=cwd), "")
                subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=repository, env=self.env, check=True, timeout=10)

    def test_a_loop_ends_the_box(self):
        done = self.claudebox("--yes", "--exec", "sh", "-c", f"while :; do ln -s {self.precious} .git/FETCH_HEAD; done 2>/dev/null")
        self.assertEqual(done.returncode, 123, done.stderr)
        self.assertEqual(self.links(self.project / ".git"), [])

    def test_many_branches_do_not_exhaust_the_watches(self):
        for directory in (".git/refs/heads", ".git/logs/refs/heads"):
            for i in range(5000):
                (self.project / directory / f"b{i}").mkdir(parents=True)
        done = self.limited(1200, f"ln -s {self.precious} .git/logs/refs/heads/b4999/x; ln -s {self.precious} .git/refs/heads/b4998/x; sleep 0.5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.quarantine(), [".git/logs/refs/heads/b4999/x", ".git/refs/heads/b4998/x"])
        self.assertEqual(self.links(self.project / ".git"), [])


class Redirected(LinksTest):
    """Git reads configuration and objects through links."""

    def test_a_link_at_the_place_of_modules(self):
        """The kept home of the box is outside of the project, where no guard is."""
        source = self.repository(self.home / "source")
        for name, cwd, repository, begin in self.repositories():
            for place in ("modules", "modules/sm"):
                with self.subTest(name=name, place=place):
                    if place == "modules" and name != "made":
                        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", "sm", source, "sm", cwd=repository)
                        self.git("commit", "-qm", "sm", cwd=repository)
                        self.git("submodule", "--quiet", "deinit", "-f", "sm", cwd=repository)
                        shutil.rmtree(self.common(repository) / "modules", ignore_errors=True)
                        for modules in self.common(repository).glob("worktrees/*/modules"):
                            shutil.rmtree(modules)
                    setup = "" if name != "made" else f"""
                    printf '[submodule "sm"]\\n\\tpath = sm\\n\\turl = https://example.com/sm\\n' >.gitmodules
                    git update-index --add --cacheinfo 160000,{self.git("rev-parse", "HEAD", cwd=source).strip()},sm; git add .gitmodules; git commit -qm sm"""
                    again = name == "made" and repository.exists()
                    self.box(("cd made; " + BEGIN if again else begin) + ("" if again else setup) + f"""
                    H=$(awk -v h="$HOME" '$5 == h {{ print $4; exit }}' /proc/self/mountinfo); rm -rf ~/mods; git init -q --bare ~/mods/sm; cd ~/mods/sm
                    git config core.bare false; git config core.fsmonitor 'touch {self.marker}; false'
                    printf '#!/bin/sh\\ntouch {self.marker}\\n' >hooks/post-checkout; chmod +x hooks/post-checkout; cp hooks/post-checkout hooks/post-index-change
                    for d in $G $C; do mkdir -p $(dirname $d/{place}); ln -s $H/mods{"/sm" if place != "modules" else ""} $d/{place}; done""", cwd=cwd)
                    self.host(repository, f"git submodule init; git config submodule.sm.url {source}; git -c protocol.file.allow=always submodule update", "git -C sm status", "git status", "git -C sm checkout -q HEAD")
                    self.assertTrue((repository / "sm/file.txt").exists())
                    self.assertFalse(self.marker.exists())
                    self.host(repository, "git submodule deinit -f sm", 'rm -rf "$(git rev-parse --git-dir)/modules" "$(git rev-parse --git-common-dir)/modules"')

    def test_a_link_at_the_place_of_worktrees(self):
        """`git worktree add` writes `../..` there, which would lead to a directory of the box."""
        for name, cwd, repository, begin in self.repositories():
            with self.subTest(name):
                self.box(begin + f"""
                mkdir -p x/y x/hooks; cp -r $C/objects $C/refs x/; printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = "touch {self.marker}; false"\\n' >x/config
                printf '#!/bin/sh\\ntouch {self.marker}\\n' >x/hooks/post-checkout; chmod +x x/hooks/post-checkout
                [ ! -d $C/worktrees ] || mv $C/worktrees $C/w2; ln -s $PWD/x/y $C/worktrees""", cwd=cwd)
                self.assertFalse((self.common_of(repository) / "worktrees").is_symlink())
                kept = self.common_of(repository) / "w2"
                if kept.exists():
                    kept.rename(kept.with_name("worktrees"))
                self.host(repository, f"git worktree add -q {self.home}/wt-{name}", f"git -C {self.home}/wt-{name} status")
                self.assertTrue((self.home / f"wt-{name}").exists())
                self.assertFalse(self.marker.exists())

    def common_of(self, repository):
        return self.home / "main/.git" if (repository / ".git").is_file() else repository / ".git"

    def test_a_link_at_the_place_of_objects(self):
        """A renamed directory keeps its files, and alternates in it are judged only at their place."""
        self.repository(self.home / "secret")
        (self.home / "secret/file.txt").write_text("secret\n")
        self.git("commit", "-qam", "secret", cwd=self.home / "secret")
        head = self.git("rev-parse", "HEAD", cwd=self.home / "secret").strip()
        for name, cwd, repository, begin in self.repositories():
            with self.subTest(name):
                self.box(begin + f"mv $C/objects $C/oo && mkdir -p $C/oo/info && echo {self.home}/secret/.git/objects >$C/oo/info/alternates && ln -s oo $C/objects", cwd=cwd)
                self.assertFalse((self.common_of(repository) / "objects").is_symlink())
                self.assertTrue((self.common_of(repository) / "oo").is_dir())  # nothing is lost
                self.assertNotEqual(subprocess.run(["git", "cat-file", "-e", head], cwd=repository, env=self.env, check=False, stderr=subprocess.DEVNULL).returncode, 0)

    def test_a_submodule_with_the_name_of_something_else(self):
        """Names of directories that the guard does not search in a git directory are names of submodules too."""
        for name in ("logs", "lfs", "objects/foo", "objects/ab", "node_modules/x", "refs", "annex/objects/ab"):
            with self.subTest(name):
                self.box(f"mkdir -p .git/modules/$(dirname {name}); git init -q --bare .git/modules/{name}; "
                         f"git --git-dir=.git/modules/{name} config core.fsmonitor /tmp/evil; ln -s {self.precious} .git/modules/{name}/FETCH_HEAD")
                self.assertNotIn("fsmonitor", (self.project / ".git/modules" / name / "config").read_text())
                self.assertEqual(self.links(self.project / ".git"), [])


class OfTheUser(LinksTest):
    def test_older_links_stay(self):
        """repo(1) and git-new-workdir(1) create repositories that consist of links."""
        store = self.repository(self.home / "store") / ".git"
        nested = self.project / "nested"
        workdir = nested / ".git"
        (workdir / "logs").mkdir(parents=True)
        for name in ("config", "refs", "logs/refs", "objects", "info", "hooks", "packed-refs", "rr-cache"):
            (workdir / name).symlink_to(store / name)
        shutil.copy(store / "HEAD", workdir)
        (self.project / "log-store").mkdir()
        shutil.rmtree(self.project / ".git/logs")
        (self.project / ".git/logs").symlink_to("../log-store")
        (self.project / ".git/modules").symlink_to(self.home / "elsewhere")
        (self.project / ".git/objects/pack/pack-x.keep").symlink_to(self.precious)
        before = self.links(self.project / ".git", workdir)
        self.assertGreater(len(before), 8)
        self.box("git commit -q --allow-empty -m x; git gc -q; sleep 0.3; touch nested/.git/x .git/x; sleep 0.2")
        self.assertEqual(self.links(self.project / ".git", workdir), before)
        self.box("sleep 0.2; mv nested other; sleep 0.3; mv other nested; sleep 0.3")
        self.assertEqual(self.links(self.project / ".git", workdir), before)
        self.assertEqual(self.quarantine(), [])
        # What an old link of the project leads to is a part of the git directory.
        self.box(f"ln -sf {self.precious} log-store/HEAD; ln -s {self.precious} nested/.git/logs/HEAD; sleep 0.3; find log-store -type l >listed")
        self.assertEqual((self.project / "listed").read_text(), "")
        self.assertEqual(self.links(self.project / ".git", workdir), before)
        self.host(self.project, "git commit --allow-empty -m x")
        self.assertEqual(self.precious.read_text(), "precious\n")

    def test_references_that_are_links(self):
        """Git with core.preferSymlinkRefs creates them, and does not follow them."""
        out = self.box("""g() { git -c core.preferSymlinkRefs=true "$@"; }; g checkout -qb other; g init -q n; g symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main
                       g -C n checkout -qb side; g worktree add -q t; sleep 0.3; readlink .git/HEAD n/.git/HEAD .git/refs/remotes/origin/HEAD
                       git commit -q --allow-empty -m x && git -C n commit -q --allow-empty -m x && git -C t commit -q --allow-empty -m x && echo ok""")
        self.assertEqual(out, "refs/heads/other\nrefs/heads/side\nrefs/remotes/origin/main\nok\n")
        self.assertEqual(self.git("symbolic-ref", "HEAD"), "refs/heads/other\n")
        self.assertEqual(self.quarantine(), [])

    def test_only_references_may_be_such_links(self):
        self.box("ln -sf refs/heads/main .git/COMMIT_EDITMSG; ln -sf ../config .git/refs/x; ln -sf refs/../config .git/refs/y; ln -sf refs/heads/main .git/logs/y; sleep 0.3")
        self.assertEqual(self.links(self.project / ".git"), [])

    def test_locks_of_an_editor_stay(self):
        """Emacs creates a link without a target beside each file that it edits."""
        out = self.box("ln -s me@host.123:456 .git/.#COMMIT_EDITMSG; ln -s ../config .git/.#x; sleep 0.3; find .git -type l")
        self.assertEqual(out, ".git/.#COMMIT_EDITMSG\n")

    def test_the_trial_of_git_init(self):
        """`git init` creates a link and looks whether it is one. The result is core.symlinks."""
        for i in range(10):
            self.assertEqual(self.box(f"git init -q r{i}; git -C r{i} config core.symlinks || echo default; git init -q --bare b{i}.git; git -C b{i}.git config core.symlinks"),
                             "default\n")
        self.assertEqual(self.quarantine(), [])

    def test_an_excepted_git_directory(self):
        done = self.claudebox("--yes", "--unprotect", ".git", "--exec", "sh", "-c", f"ln -s {self.precious} .git/logs/x; sleep 0.3")
        self.assertTrue((self.project / ".git/logs/x").is_symlink(), done.stderr)

    def test_links_outside_of_git_directories_stay(self):
        self.git("init", "-q", "--bare", self.home / "layout")
        layout = self.home / "layout"
        subprocess.run(["git", "fetch", "-q", self.project, "main:main"], cwd=layout, env=self.env, check=True)
        self.git("worktree", "add", "-q", "tree", "main", cwd=layout)
        self.box("ln -s file.txt tree/link; mkdir tree/logs; ln -s ../file.txt tree/logs/link; sleep 0.3", cwd=layout)
        self.assertTrue((layout / "tree/link").is_symlink())
        self.assertTrue((layout / "tree/logs/link").is_symlink())
        self.box("mkdir -p refs logs; ln -s ../x refs/x; ln -s ../x logs/HEAD; sleep 0.3")
        self.assertTrue((self.project / "logs/HEAD").is_symlink())
        self.assertEqual(self.quarantine(), [])

    def test_ordinary_work_loses_nothing(self):
        self.repository(self.home / "remote")
        (self.project / "sub").mkdir()
        for i in range(3):
            (self.project / "file.txt").write_text(f"{i}\n")
            self.git("commit", "-qam", str(i))
        done = self.claudebox("--yes", "--exec", "sh", "-ec", """
        git clone -q --bare . mirror.git; git clone -q . clone; git clone -q --shared . shared; git init -q fresh; git -C clone pull -q
        git worktree add -q tree; git -C tree commit -q --allow-empty -m t
        git -c protocol.file.allow=always submodule --quiet add ./clone sub/module; git commit -qm module
        git -c protocol.file.allow=always clone -q --recurse-submodules . again
        exec 3>&1 >/dev/null 2>&1; git config rerere.enabled true; git checkout -qb a HEAD~2; echo a >file.txt; git commit -qam a
        ! git merge main; echo m >file.txt; git commit -qam m; git reset -q --hard HEAD~1; ! git merge main; git diff --name-only --diff-filter=U; git merge --abort
        ! git rebase main; git rebase --abort; ! git cherry-pick main~1; git cherry-pick --abort; git checkout -q main; git rebase -q --exec true HEAD~1
        echo s >file.txt; git stash -q; git stash pop -q; git checkout -q file.txt; git branch b/c/d; git tag t; git pack-refs --all; git gc -q; git repack -qad
        git bundle create -q x.bundle main; git notes add -m n; git bisect start HEAD HEAD~2; git bisect reset; git worktree remove tree
        git format-patch -1 a --stdout >p; ! git am <p; git am --abort; git submodule deinit -f sub/module; git submodule update --init || true
        git fsck; sleep 0.3; git status --porcelain --untracked-files=no >&3; echo ok >&3""")
        self.assertEqual((done.stdout, done.returncode), ("ok\n", 0), done.stderr)
        self.assertEqual(self.quarantine(), [])
        self.assertNotIn("quarantine", done.stderr)
        self.git("fsck", "--strict")
        self.assertEqual(self.git("stash", "list"), "")

    def test_a_repository_needs_few_watches(self):
        done = self.limited(20, "git commit -q --allow-empty -m x; sleep 0.3; echo ok")
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"), done.stderr)
        self.assertEqual(self.limited(8, "true").returncode, 125)
