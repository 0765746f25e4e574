# SPDX-License-Identifier: MIT
"""What a box writes is not executed by programs that the user starts outside: git, shells, editors, package managers."""
import json
import os
import pathlib
import signal
import subprocess
import time

from lib.box import BoxTest, until

AS_ROOT = True

# Places at the top of a project, each with a content that a program of the host would execute.
FILES = [".envrc", ".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/run", ".claude/commands/do.md",
         ".claude/agents/a.md", ".claude/skills/s/SKILL.md", ".vscode/tasks.json", ".idea/workspace.xml", ".devcontainer/devcontainer.json",
         ".devcontainer.json", ".husky/pre-commit", "lefthook.yml", ".pre-commit-config.yaml", ".cargo/config.toml", ".npmrc",
         ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "bunfig.toml", ".bazelrc", ".mvn/extensions.xml", "mise.toml", ".bashrc", ".zshrc",
         ".profile", ".claudebox/tools.txt", ".zlogout", ".hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath", ".jj/repo/config.toml", ".gemini/settings.json",
         ".codex/config.toml", ".aider.conf.yml", ".cursor/mcp.json", ".windsurf/hooks.json", ".zed/tasks.json", ".Rprofile", ".irbrc", ".pryrc", ".ghci",
         ".ocamlinit", ".iex.exs", "lefthook.toml", ".lefthook.json", "lefthook-local.jsonc", ".config/lefthook.yaml", ".lefthook/pre-commit/run",
         ".lefthook-local/pre-push/run", ".config/mise.toml", ".config/mise/conf.d/a.toml", "mise/config.toml"]
EVIL = "script-shell=/tmp/evil"
# Files that a box may not leave in a git directory.
GIT_FILES = ["commondir", "remotes/origin", "branches/b", "info/attributes", "objects/info/alternates"]
# Renames in the box. mv(1) copies what it cannot rename.
RENAME = "r() { python3 -c 'import os,sys; os.rename(*sys.argv[1:])' \"$@\" 2>/dev/null; }\n"


class GuardTest(BoxTest):
    def setUp(self):
        super().setUp()
        self.repository(self.project)
        self.marker = self.home / "marker"
        self.evil = self.project / "evil"

    def trigger(self, *directories):
        """Runs what a user runs next. Returns whether a program of the box was executed. The guard removes new directories that it has emptied."""
        for directory in filter(os.path.isdir, (self.project, *directories)):
            for command in (["status"], ["status", "--ignored"], ["diff"], ["add", "-A", "--dry-run"], ["log", "-1"], ["stash", "list"],
                            ["commit", "-q", "--allow-empty", "-m", "x"], ["checkout", "-q", "HEAD"], ["gc", "--auto"]):
                subprocess.run(["git", *command], cwd=directory, env=self.env, check=False, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, timeout=60)
        return self.marker.exists()

    def quarantine(self):
        """Returns the paths of the items in quarantine, relative to the project."""
        found = []
        for record in self.home.glob(".claudebox/instances/*/quarantine/*/record.json"):
            found.append(os.path.relpath(json.loads(record.read_text())["path"], self.project))
        return sorted(found)

    def start(self, script, *arguments, cwd=None, **options):
        process = subprocess.Popen([self.under_test, "--yes", *arguments, "--exec", "sh", "-c", script], cwd=cwd or self.project,
                                   env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process


class Places(GuardTest):
    def test_a_place_that_did_not_exist_is_moved_while_the_box_runs(self):
        script = "".join(f"mkdir -p '{os.path.dirname(path) or '.'}'; echo '{EVIL}' >'{path}'\n" for path in FILES)
        out = self.box(script + "sleep 0.5; for f in " + " ".join(FILES) + "; do [ -e $f ] && echo $f; done")
        self.assertEqual(out, "")
        self.assertEqual(self.quarantine(), sorted(FILES))
        for path in FILES:
            self.assertFalse((self.project / path).exists(), path)

    def test_a_place_that_exists_cannot_be_changed(self):
        for path in FILES:
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_text("mine\n")
        out = self.box(r"""
        for f in """ + " ".join(FILES) + r"""; do
            echo evil >$f || echo w; mv $f moved || echo m; rm -f $f || echo r; ln $f linked || echo l; ln -sf /tmp $f || echo s
            d=$(dirname $f); [ $d = . ] || mv $d away || echo d
        done 2>/dev/null; ls -A""")
        self.assertEqual(out.count("w\n"), len(FILES))
        for path in FILES:
            self.assertEqual((self.project / path).read_text(), "mine\n", path)
        self.assertEqual(self.quarantine(), [])

    def test_a_tracked_file_stays_writable_and_a_checkout_is_complete(self):
        for path in FILES:
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_text("one\n")
        self.git("add", "-f", ".")
        self.git("commit", "-qm", "places")
        self.git("checkout", "-qb", "other")
        for path in FILES:
            (self.project / path).write_text("two\n")
        self.git("commit", "-qam", "two")
        self.git("checkout", "-q", "main")
        out = self.box("git checkout -q other && git status --porcelain && echo three >.npmrc && git commit -qam three && echo ok")
        self.assertEqual(out, "ok\n")
        self.assertEqual(self.quarantine(), [])
        self.assertEqual(self.git("status", "--porcelain"), "")
        for path in FILES:
            self.assertEqual((self.project / path).read_text(), "three\n" if path == ".npmrc" else "two\n", path)

    def test_a_checkout_creates_places_that_the_branch_has(self):
        self.git("checkout", "-qb", "other")
        for path in FILES:
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_text("two\n")
        self.git("add", "-f", ".")
        self.git("commit", "-qm", "two")
        self.git("checkout", "-q", "main")
        self.assertEqual(self.box("git checkout -q other && sleep 0.3 && git status --porcelain && echo ok"), "ok\n")
        self.assertEqual(self.quarantine(), [])
        for path in FILES:
            self.assertEqual((self.project / path).read_text(), "two\n", path)

    def test_places_further_down_are_guarded_too(self):
        (self.project / "packages/a").mkdir(parents=True)
        (self.project / "packages/a/.npmrc").write_text("mine\n")
        (self.project / "node_modules/x/.vscode").mkdir(parents=True)
        out = self.box(f"""
        echo evil >packages/a/.npmrc || echo blocked
        mkdir -p packages/b/.cargo packages/c; echo x >packages/b/.cargo/config.toml; echo '{EVIL}' >packages/c/.npmrc
        echo engine-strict=true >packages/b/.npmrc
        echo x >node_modules/x/.vscode/settings.json
        mkdir t; echo '{EVIL}' >t/.npmrc.new; mv t/.npmrc.new t/.npmrc; mkdir u; echo '{EVIL}' >u/.yarnrc; mv u packages/d
        sleep 0.3; cat packages/b/.npmrc node_modules/x/.vscode/settings.json
        """)
        self.assertEqual(out, "blocked\nengine-strict=true\nx\n")
        self.assertEqual((self.project / "packages/a/.npmrc").read_text(), "mine\n")
        left = [str(path.relative_to(self.project)) for path in self.project.rglob("*")
                if path.is_file() and path.name in (".npmrc", ".yarnrc", "config.toml")]
        self.assertEqual(sorted(left), ["packages/a/.npmrc", "packages/b/.npmrc"])

    def test_an_excepted_place_can_be_written_and_is_shown_in_red(self):
        (self.project / ".vscode").mkdir()
        done = self.claudebox("--yes", "--unprotect", ".vscode", "--exec", "sh", "-c", "echo x >.vscode/tasks.json; sleep 0.2")
        self.assertIn("'.vscode' is not protected", done.stderr)
        self.assertEqual((self.project / ".vscode/tasks.json").read_text(), "x\n")
        self.profile(unprotect=[".idea"])
        self.assertIn("'.idea' is not protected", self.claudebox("--yes", "--exec", "sh", "-c", "mkdir .idea; echo x >.idea/a; sleep 0.2").stderr)
        self.assertTrue((self.project / ".idea/a").exists())

    def test_a_link_or_a_renamed_directory_is_moved_like_a_file(self):
        self.box("mkdir a b c; echo x >a/settings.json; echo x >b/config.toml; echo x >c/tasks.json")
        self.assertEqual(self.quarantine(), [])
        out = self.box("ln -s a .claude; mv b .cargo; mv c .vscode; sleep 0.3; ls .claude/settings.json .cargo/config.toml .vscode/tasks.json 2>/dev/null")
        self.assertEqual(out, "")
        self.assertEqual(self.quarantine(), [".cargo/config.toml", ".claude", ".vscode/tasks.json"])

    def test_the_target_of_a_place_that_is_a_link_cannot_be_changed(self):
        (self.project / "conf").mkdir()
        (self.project / "conf/tasks.json").write_text("mine\n")
        (self.project / "envfile").write_text("mine\n")
        (self.project / ".vscode").symlink_to("conf")
        (self.project / ".envrc").symlink_to("envfile")
        self.assertEqual(self.box("echo x >envfile || echo 1; echo x >conf/tasks.json || echo 2; rm -f envfile || echo 3"), "1\n2\n3\n")
        self.assertEqual((self.project / ".envrc").read_text(), "mine\n")

    def test_a_changed_file_that_git_tracks_is_named(self):
        for name in (".npmrc", ".mcp.json"):
            (self.project / name).write_text("one\n")
        self.git("add", ".")
        self.git("commit", "-qm", "two")
        done = self.claudebox("--yes", "--exec", "sh", "-c", f"echo '{EVIL}' >.npmrc; echo x >.mcp.json; sleep 0.2")
        self.assertRegex(done.stderr, r"(?s)changed: ~/project/\.npmrc \(your programs execute it without asking: git diff -- \.npmrc\)\n"
                                      r".*changed: ~/project/\.mcp\.json \(your programs use it: git diff -- \.mcp\.json\)")
        self.assertNotIn("guard", self.claudebox("--yes", "--exec", "true").stderr)

    def test_a_read_only_project_needs_no_guard(self):
        self.profile(project="read-only")
        self.assertEqual(self.box("echo x 2>/dev/null >.envrc || echo blocked; git status --porcelain"), "blocked\n")


class Git(GuardTest):
    def attack(self, script, *directories, cwd=None):
        """Runs an attack in the box that uses $EVIL and $HOOK, then what a user runs. Returns the box's output."""
        self.evil = (cwd or self.project) / "evil"
        self.evil.write_text(f"#!/bin/sh\ntouch {self.marker}\n")
        self.evil.chmod(0o755)
        out = self.box(f"EVIL={self.evil} HOOK={self.evil}\n" + RENAME + script + "\nsleep 0.3", cwd=cwd)
        self.assertFalse(self.trigger(*directories), script)
        return out

    def test_hooks_and_configuration_cannot_be_written(self):
        out = self.attack("""
        cp $HOOK .git/hooks/pre-commit || ln -s $EVIL .git/hooks/post-checkout || echo hooks
        printf '[core]\\n\\tfsmonitor = %s\\n' $EVIL >.git/config.new; mv .git/config.new .git/config || echo config
        ln .git/config other || echo link; r .git away || echo renamed; r .git/hooks h || echo moved
        rm -rf .git/hooks; rm -f .git/config; ls .git/hooks >/dev/null && echo there
        git config core.fsmonitor $EVIL; git config core.hooksPath .; git config alias.status "!$EVIL"; git config core.fsmonitor
        """ )
        self.assertEqual(out.splitlines(), ["hooks", "config", "link", "renamed", "moved", "there", str(self.evil)])
        self.assertNotIn("evil", (self.project / ".git/config").read_text())

    def test_a_directory_of_hooks_in_the_project(self):
        self.git("config", "core.hooksPath", "tools/hooks")
        hooks = self.project / "tools/hooks"
        out = self.attack("mkdir -p tools/hooks; cp $EVIL tools/hooks/pre-commit; sleep 0.3; ls tools/hooks")
        self.assertEqual(out, "")
        self.assertEqual(self.quarantine(), ["tools/hooks/pre-commit"])
        hooks.mkdir(parents=True, exist_ok=True)
        (hooks / "post-merge").write_text("#!/bin/sh\n")
        out = self.attack("cp $EVIL tools/hooks/post-merge || echo blocked; r tools t || echo pinned; cp $EVIL tools/hooks/pre-commit || echo new")
        self.assertEqual(out, "blocked\npinned\nnew\n")

    def test_files_that_redirect_git_are_moved(self):
        out = self.attack("""
        mkdir evil.git; cp -r .git/. evil.git 2>/dev/null; rm -f evil.git/config
        printf '[core]\\n\\tfsmonitor = %s\\n' $EVIL >evil.git/config; mkdir -p evil.git/hooks; cp $HOOK evil.git/hooks/pre-commit
        echo ../evil.git >.git/commondir
        printf '[core]\\n\\tfsmonitor = %s\\n' $EVIL >.git/config.worktree; git config extensions.worktreeConfig true
        mkdir -p .git/remotes; echo 'URL: /tmp' >.git/remotes/origin; mkdir -p .git/branches; echo /tmp >.git/branches/b
        echo '* filter=x' >.git/info/attributes; echo /tmp >.git/objects/info/alternates
        """, self.project / "evil.git")
        for name in GIT_FILES:
            self.assertFalse((self.project / ".git" / name).exists(), name)
        self.assertNotIn("fsmonitor", (self.project / ".git/config.worktree").read_text())
        self.assertIn(".git/commondir", self.quarantine())

    def test_a_nested_repository_executes_nothing(self):
        self.attack("""
        git init -q sub; git -C sub config core.fsmonitor $EVIL; cp $HOOK sub/.git/hooks/pre-commit; echo x >sub/f
        git -C sub config user.name x; git -C sub config user.email y; git -C sub remote add origin https://example.com/x
        git -C sub -c core.fsmonitor=false add f; git -C sub -c core.fsmonitor=false -c core.hooksPath=/dev/null commit -qm x
        git add sub 2>/dev/null
        """, self.project / "sub")
        config = (self.project / "sub/.git/config").read_text()
        self.assertNotIn("fsmonitor", config)
        self.assertIn("https://example.com/x", config)

    def test_a_repository_among_dependencies_executes_nothing(self):
        """Git runs the configuration of a repository that the index has, wherever it is."""
        (self.project / "node_modules/y").mkdir(parents=True)
        self.attack("""
        git init -q node_modules/x; echo x >node_modules/x/f
        git -C node_modules/x -c user.name=x -c user.email=y commit -q --allow-empty -m x
        git add -f node_modules/x 2>/dev/null; sleep 0.3
        git -C node_modules/x config core.fsmonitor $EVIL; cp $HOOK node_modules/x/.git/hooks/pre-commit
        git update-index --add --cacheinfo 160000,$(git -C node_modules/x rev-parse HEAD),node_modules/y
        cp -r node_modules/x/.git node_modules/y/.git; git -C node_modules/y config core.fsmonitor $EVIL
        """, self.project / "node_modules/x", self.project / "node_modules/y")
        self.assertNotIn("fsmonitor", (self.project / "node_modules/y/.git/config").read_text())

    def test_pointers_lead_only_into_the_project(self):
        self.attack("""
        mkdir -p ~/evil.git sub; cp -r .git/. ~/evil.git 2>/dev/null; rm -rf ~/evil.git/config ~/evil.git/hooks; mkdir ~/evil.git/hooks
        printf '[core]\\n\\tfsmonitor = %s\\n' $EVIL >~/evil.git/config; cp $HOOK ~/evil.git/hooks/pre-commit
        echo "gitdir: $HOME/evil.git" >sub/.git; mkdir link; ln -s ~/evil.git link/.git
        """, self.project / "sub", self.project / "link")
        self.assertEqual(self.quarantine(), ["link/.git", "sub/.git"])

    def test_a_submodule_and_its_git_directory(self):
        other = self.repository(self.home / "other")
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "sub")
        self.git("commit", "-qm", "submodule")
        out = self.attack("""
        m=.git/modules/sub
        cp $HOOK $m/hooks/post-checkout || echo hooks; printf '[core]\\n\\tfsmonitor = x\\n' >c; mv c $m/config || echo config
        r $m away || echo module; r .git/modules away || echo modules
        git -C sub config core.fsmonitor $EVIL
        git -C sub checkout -qb topic && echo two >sub/file.txt && git -C sub commit -qam two && git commit -qam sub && echo whole
        echo ../../../evil >$m/commondir
        """, self.project / "sub")
        self.assertEqual(out.splitlines(), ["hooks", "config", "module", "modules", "whole"])
        self.assertNotIn("fsmonitor", (self.project / ".git/modules/sub/config").read_text())

    def test_a_linked_worktree_and_its_main_repository(self):
        tree = self.home / "tree"
        self.git("worktree", "add", "-q", "-b", "tree", tree)
        out = self.attack(f"""
        g={self.project}/.git
        cp $HOOK $g/hooks/pre-commit || echo hooks; printf x >$g/c; mv $g/c $g/config || echo config
        echo 'gitdir: /tmp' >p; mv p .git || echo pointer
        for f in commondir gitdir; do echo x >$g/worktrees/tree/$f || echo $f; done
        r $g/worktrees/tree $g/t || echo t; r $g/worktrees $g/w || echo w
        echo two >file.txt; git commit -qam two && git branch topic && echo whole
        """, tree, cwd=tree)
        self.assertEqual(out.splitlines(), ["hooks", "config", "pointer", "commondir", "gitdir", "t", "w", "whole"])
        self.assertEqual(self.git("log", "-1", "--format=%s", "tree"), "x\n")

    def test_an_embedded_bare_repository_executes_nothing(self):
        self.attack("""
        git init -q --bare store; git -C store config core.fsmonitor $EVIL; git -C store config core.worktree ..
        git -C store config core.bare false; cp $HOOK store/hooks/pre-commit
        mkdir b; cp -r store/objects store/refs b; printf '[core]\\n\\tfsmonitor = %s\\n\\tworktree = ..\\n' $EVIL >b/config; cp store/HEAD b
        """, self.project / "store", self.project / "b")


    def test_a_repository_that_a_later_box_completes_executes_nothing(self):
        self.attack("""
        git init -q sub; git -C sub config core.fsmonitor $EVIL; cp $HOOK sub/.git/hooks/pre-commit; rm sub/.git/HEAD
        mkdir -p part/hooks part/refs part/objects; cp $HOOK part/hooks/pre-commit
        printf '[core]\\n\\tfsmonitor = %s\\n\\tworktree = ..\\n' $EVIL >part/config
        mkdir -p late/.git/hooks late/.git/refs late/.git/objects; cp $HOOK late/.git/hooks/pre-commit
        """)
        self.assertFalse((self.project / "late/.git/hooks/pre-commit").exists())  # `git init` of the user would complete it
        for path in ("part/hooks/pre-commit", "part/config"):
            self.assertTrue((self.project / path).exists(), f"the test can fail: {path}")
        self.attack("for d in sub/.git part late/.git; do echo 'ref: refs/heads/main' >$d/HEAD; done",
                    self.project / "sub", self.project / "part", self.project / "late")
        for path in ("part/hooks/pre-commit", "late/.git/hooks/pre-commit"):
            self.assertFalse((self.project / path).exists(), path)


class Replacement(GuardTest):
    def test_a_file_that_the_host_replaces_is_protected_again(self):
        (self.project / ".envrc").write_text("mine\n")
        process = self.start("""
        echo ready; while [ ! -e go ]; do sleep 0.01; done; sleep 0.3
        echo evil >.envrc || echo blocked; mv .envrc x || echo pinned
        cp /bin/true .git/hooks/x || echo hooks; git config --get some.value; echo x >c; mv c .git/config || echo config
        """)
        self.assertEqual(process.stdout.readline(), "ready\n")
        (self.project / "new").write_text("changed\n")
        os.rename(self.project / "new", self.project / ".envrc")
        self.git("config", "user.name", "Other")
        (self.project / "go").touch()
        out, err = process.communicate(timeout=60)
        self.assertEqual(out.splitlines(), ["blocked", "pinned", "hooks", "config"], err)
        self.assertEqual((self.project / ".envrc").read_text(), "changed\n")
        self.assertEqual(self.git("config", "user.name"), "Other\n")

    def test_a_place_that_the_host_removes_is_not_the_boxs(self):
        (self.project / ".envrc").write_text("mine\n")
        process = self.start("echo ready; while [ ! -e go ]; do sleep 0.01; done; echo evil >.envrc; sleep 0.3; cat .envrc")
        self.assertEqual(process.stdout.readline(), "ready\n")
        (self.project / ".envrc").unlink()
        (self.project / "go").touch()
        out, err = process.communicate(timeout=60)
        self.assertEqual(out, "", err)
        self.assertEqual(self.quarantine(), [".envrc"])

    def test_a_loop_that_creates_a_place_again_ends_the_box(self):
        done = self.claudebox("--yes", "--exec", "sh", "-c", "while :; do echo evil >.envrc; done")
        self.assertEqual(done.returncode, 123, done.stderr)
        self.assertIn("again and again", done.stderr)
        self.assertFalse((self.project / ".envrc").exists())

    def test_distinct_places_never_count_together(self):
        out = self.box("i=0; while [ $i -lt 40 ]; do mkdir -p d$i; echo x >d$i/.envrc; i=$((i+1)); done; sleep 0.3; echo end")
        self.assertEqual(out, "end\n")
        self.assertEqual(len(self.quarantine()), 40)


class Whole(GuardTest):
    """Git commands work in the box as outside, and their effects reach the host."""

    def test_everyday_commands(self):
        origin = self.home / "origin.git"
        self.git("clone", "-q", "--bare", self.project, origin)
        self.git("remote", "add", "origin", "https://example.com/x")
        self.git("update-ref", "refs/remotes/origin/topic", "HEAD")
        done = self.claudebox("--yes", "--exec", "sh", "-ec", """
        git checkout -q -b topic origin/topic; git branch --set-upstream-to=origin/topic >/dev/null
        echo two >file.txt; git commit -qam two; git commit -q --amend -m three; git tag v1; git branch side HEAD~1
        git checkout -q side; echo s >s; git add s; git commit -qm side; git cherry-pick topic >/dev/null; git checkout -q topic
        git merge -q -m merged side >/dev/null; git rebase -q main; echo x >>file.txt; git stash -q; git stash pop -q; git checkout -q .
        git worktree add -q inner side~1 2>/dev/null; git worktree remove inner; git gc -q; git remote add second https://example.com/y
        git init -q new; git clone -q . copy; git -C copy status --porcelain; echo done
        """)
        self.assertEqual(done.stdout, "done\n", done.stderr)
        config = (self.project / ".git/config").read_text()
        for line in ('[branch "topic"]', "remote = origin", 'merge = refs/heads/topic', '[remote "second"]', "url = https://example.com/y"):
            self.assertIn(line, config)
        self.assertEqual(self.git("rev-parse", "--abbrev-ref", "topic@{upstream}"), "origin/topic\n")
        self.assertEqual(self.quarantine(), [])
        self.assertEqual(self.git("fsck", "--no-progress", "--no-dangling"), "")

    def test_a_killed_launch_loses_no_setting(self):
        process = self.start("git remote add second https://example.com/y; echo ready; sleep 60")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertTrue(until(lambda: not pathlib.Path(f"/proc/{process.pid}").exists()))
        time.sleep(0.3)
        self.box("true")
        self.assertEqual(self.git("remote"), "second\n")
        self.assertEqual(self.git("status", "--porcelain", "--ignored"), "")
        self.assertEqual(list(self.home.glob(".claudebox/instances/*/git-config-*")), [])
