# SPDX-License-Identifier: MIT
"""Files of the project that the user's own git configuration names: what a box writes there is not executed outside."""
import json
import os
import subprocess

from box.test_guard import RENAME, GuardTest

AS_ROOT = True


class TargetTest(GuardTest):
    def setUp(self):
        super().setUp()
        (self.project / "attributes").write_text("*.txt filter=x diff=x merge=x\n")
        self.payload = f"#!/bin/sh\ntouch {self.marker}\ncat\n"

    def attack(self, script, *directories, cwd=None):
        """Runs an attack in the box, with $EVIL as a program, and what the user runs next. Returns the output of the box and its errors."""
        tools = self.project / "node_modules"
        tools.mkdir(exist_ok=True)
        evil = tools / "evil"
        evil.write_text(self.payload)
        evil.chmod(0o755)
        done = self.claudebox("--yes", "--exec", "sh", "-c", f"EVIL={evil}\nPROJECT={self.project}\n{RENAME}{script}\nsleep 0.3", cwd=cwd)
        self.assertNotEqual(done.returncode, 125, done.stderr)
        (self.project / "file.txt").write_text("changed\n")
        self.assertFalse(self.trigger(*directories), script)
        return done.stdout, done.stderr

    def executes(self):
        """Returns whether git outside runs the payload. The marker is removed."""
        (self.project / "file.txt").write_text("changed again\n")
        ran = self.trigger()
        self.marker.unlink(missing_ok=True)
        return ran

    def script(self, path):
        path = self.project / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.payload)
        path.chmod(0o755)
        return path


class Includes(TargetTest):
    CONFIG = "printf '[core]\\n\\tfsmonitor = %s\\n' $EVIL"

    def test_a_missing_file_is_moved(self):
        self.git("config", "include.path", "../.gitconfig")
        self.git("config", "includeIf.onbranch:other.path", "../conf/branch")
        self.attack(f"{self.CONFIG} >.gitconfig; mkdir conf; {self.CONFIG} >conf/branch")
        self.assertEqual(self.quarantine(), [".gitconfig", "conf/branch"])

    def test_an_untracked_file_cannot_be_changed(self):
        self.git("config", "include.path", "../conf/git")
        (self.project / "conf").mkdir()
        (self.project / "conf/git").write_text("[user]\n\tname = Ann\n")
        out, _ = self.attack(f"{self.CONFIG} >conf/git || echo blocked; r conf away || echo pinned; rm -f conf/git || echo kept")
        self.assertEqual(out, "blocked\npinned\nkept\n")
        places = {place["path"]: place for place in self.plan()["guard"]["places"]}
        self.assertIn(str(self.project / "conf/git"), places)
        self.assertIn("conf/git", self.claudebox("--audit=full").stderr)

    def test_a_change_of_a_tracked_file_is_named(self):
        self.git("config", "include.path", "../shared.gitconfig")
        (self.project / "shared.gitconfig").write_text("[user]\n\tname = Ann\n")
        self.git("add", "shared.gitconfig")
        self.git("commit", "-qm", "shared")
        done = self.claudebox("--yes", "--exec", "sh", "-c", "echo '[x]' >>shared.gitconfig; sleep 0.2")
        self.assertRegex(done.stderr, r"changed: .*shared\.gitconfig \(your programs execute it without asking: git diff -- shared\.gitconfig\)")
        self.assertIn("shared.gitconfig", self.plan()["guard"]["tracked"])

    def test_an_included_file_names_further_ones(self):
        self.git("config", "include.path", "../conf/a")
        (self.project / "conf").mkdir()
        (self.project / "conf/a").write_text("[include]\n\tpath = b\n[core]\n\tfsmonitor = tools/watch\n")
        (self.project / "conf/b").write_text("[core]\n\thooksPath = hk\n[include]\n\tpath = c\n")
        self.attack(f"mkdir tools hk; cp $EVIL tools/watch; cp $EVIL hk/pre-commit; {self.CONFIG} >conf/c")
        self.assertEqual(self.quarantine(), ["conf/c", "hk/pre-commit", "tools/watch"])

    def test_a_file_in_the_git_directory(self):
        self.git("config", "include.path", "extra")
        self.attack(f"{self.CONFIG} >.git/extra")
        self.assertEqual(self.quarantine(), [".git/extra"])
        (self.project / ".git/extra").write_text("[user]\n\tname = Ann\n")
        out, _ = self.attack(f"{self.CONFIG} >.git/extra || echo blocked; r .git/extra away || echo pinned")
        self.assertEqual(out, "blocked\npinned\n")

    def test_the_users_file_behind_a_link_into_the_project(self):
        config = self.home / ".gitconfig"
        (self.project / "gitconfig").write_text(config.read_text())
        config.unlink()
        config.symlink_to(self.project / "gitconfig")
        self.assertEqual(self.attack(f"{self.CONFIG} >>gitconfig || echo blocked")[0], "blocked\n")


class Programs(TargetTest):
    SETTINGS = {"core.fsmonitor": "./tools/run", "filter.x.clean": "sh tools/run %f", "filter.x.process": "PATH=. tools/run",
                "diff.x.textconv": "tools/run", "diff.external": "'tools/run' a", "core.pager": "cat | tools/run",
                "core.editor": "true;tools/run", "core.sshCommand": "sh -c 'tools/run \"$@\"'", "gpg.program": "$PWD/tools/run"}

    def test_a_missing_program_is_moved(self):
        self.git("config", "core.attributesFile", "attributes")
        for key, value in self.SETTINGS.items():
            with self.subTest(key):
                self.git("config", key, value)
                before = len(self.quarantine())
                self.attack("mkdir -p tools; cp $EVIL tools/run")
                self.assertEqual(len(self.quarantine()), before + 1)
                self.git("config", "--unset", key)

    def test_an_untracked_program_cannot_be_changed(self):
        self.git("config", "core.attributesFile", "attributes")
        for key in ("core.fsmonitor", "filter.x.clean", "diff.x.textconv"):
            with self.subTest(key):
                self.git("config", key, self.SETTINGS[key])
                (self.project / "tools").mkdir(exist_ok=True)
                (self.project / "tools/run").write_text("#!/bin/sh\ncat\n")
                (self.project / "tools/run").chmod(0o755)
                out, _ = self.attack("cp $EVIL tools/run || echo blocked; r tools t || echo pinned; echo x >tools/other && echo free")
                self.assertEqual(out, "blocked\npinned\nfree\n")
                self.script("tools/run")
                self.assertTrue(self.executes(), "the test can fail")
                self.git("config", "--unset", key)

    def test_a_file_of_attributes(self):
        self.git("config", "core.attributesFile", "attributes")
        self.git("config", "filter.y.clean", str(self.script("node_modules/filter")))
        self.assertEqual(self.attack("echo '* filter=y' >attributes || echo blocked")[0], "blocked\n")
        (self.project / "attributes").unlink()
        self.attack("echo '* filter=y' >attributes")
        self.assertEqual(self.quarantine(), ["attributes"])

    def test_a_program_among_dependencies(self):
        self.git("config", "core.fsmonitor", "node_modules/.bin/watch")
        self.attack("mkdir -p node_modules/.bin node_modules/a; cp $EVIL node_modules/.bin/watch; cp $EVIL node_modules/a/watch")
        self.assertEqual(self.quarantine(), ["node_modules/.bin/watch"])

    def test_a_program_behind_a_link(self):
        self.git("config", "core.fsmonitor", "./watch")
        (self.project / "watch").symlink_to("tools/watch")
        self.attack("mkdir tools; cp $EVIL tools/watch")
        self.assertEqual(self.quarantine(), ["tools/watch"])
        self.attack("rm watch; cp $EVIL watch")
        self.assertEqual(self.quarantine(), ["tools/watch", "watch"])

    def test_directories_and_files_of_git_in_a_command_stay_writable(self):
        self.git("config", "alias.x", "!rm -rf dist; eslint src/ lib/x; cat .git/HEAD .git/index ./.git/refs/heads/main; ls .git/objects >build/log")
        (self.project / "lib/x").mkdir(parents=True)
        out = self.box("mkdir -p src dist build; touch src/a dist/b lib/x/c; echo two >file.txt; git commit -qam two && git checkout -qb topic && echo done")
        self.assertEqual(out, "done\n")
        self.assertEqual(self.quarantine(), [])

    def test_an_exception(self):
        self.git("config", "core.fsmonitor", "./tools/run")
        self.script("tools/run")
        self.assertEqual(self.box("echo x >tools/run || echo blocked"), "blocked\n")
        done = self.claudebox("--yes", "--unprotect", "tools/run", "--exec", "sh", "-c", "echo x >tools/run && echo written")
        self.assertEqual(done.stdout, "written\n", done.stderr)

    def test_too_many_targets_are_reported(self):
        words = " ".join(f"./p/{number}" for number in range(200))
        self.git("config", "alias.x", f"!true {words}")
        self.assertIn("more than 128 files", self.claudebox("--yes", "--exec", "true").stderr)


class Hooks(TargetTest):
    def test_a_directory_of_hooks_with_another_place_in_it(self):
        """Its parents are pinned for that place, which must not be all that protects the directory."""
        self.git("config", "core.fsmonitor", "hk/watch")
        self.git("config", "core.hooksPath", "hk")
        self.script("hk/watch")
        self.assertEqual(self.box("echo x >hk/pre-commit || echo blocked"), "blocked\n")

    def test_a_directory_of_hooks_that_is_a_link(self):
        hooks = self.project / ".git/hooks"
        subprocess.run(["rm", "-rf", hooks], check=True)
        hooks.symlink_to("../hk")
        self.attack("mkdir hk; cp $EVIL hk/pre-commit")
        self.assertEqual(self.quarantine(), ["hk/pre-commit"])
        self.script("hk/pre-push")
        out, _ = self.attack("cp $EVIL hk/pre-commit || echo new; cp $EVIL hk/pre-push || echo blocked; r hk h || echo pinned")
        self.assertEqual(out, "new\nblocked\npinned\n")
        self.attack("rm .git/hooks; mkdir .git/hooks; cp $EVIL .git/hooks/pre-commit")

    def test_the_hooks_of_a_submodule_that_are_a_link(self):
        other = self.repository(self.home / "other")
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "sub")
        self.git("commit", "-qm", "submodule")
        hooks = self.project / ".git/modules/sub/hooks"
        subprocess.run(["rm", "-rf", hooks], check=True)
        hooks.symlink_to("../../../hk")
        self.attack("mkdir hk; cp $EVIL hk/pre-commit", self.project / "sub")
        self.assertEqual(self.quarantine(), ["hk/pre-commit"])

    def test_the_configuration_of_a_submodule(self):
        other = self.repository(self.home / "other")
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "sub")
        self.git("commit", "-qm", "submodule")
        sub = self.project / "sub"
        self.git("config", "core.hooksPath", "hk", cwd=sub)
        self.git("config", "core.fsmonitor", "./watch", cwd=sub)
        (sub / "watch").write_text("#!/bin/sh\n")
        out, _ = self.attack("mkdir sub/hk; cp $EVIL sub/hk/pre-commit; cp $EVIL sub/watch || echo blocked", sub)
        self.assertEqual(out, "blocked\n")
        self.assertEqual(self.quarantine(), ["sub/hk/pre-commit"])
        self.git("add", "watch", cwd=sub)
        self.git("commit", "-qm", "watch", cwd=sub)
        done = self.claudebox("--yes", "--exec", "sh", "-c", "echo '#!/bin/sh' >sub/watch && git -C sub checkout -q HEAD~1 && ls sub/watch; sleep 0.2")
        self.assertEqual(done.stdout, "", done.stderr)
        self.assertFalse((sub / "watch").exists(), "a checkout removes a file that git tracks")

    def test_a_link_in_place_of_a_parent(self):
        self.git("config", "core.hooksPath", "tools/git/hooks")
        self.attack("mkdir -p xx/git/hooks; cp $EVIL xx/git/hooks/pre-commit; ln -s xx tools")
        self.assertEqual(self.quarantine(), ["tools"])
        self.attack("mkdir tools; ln -s ../xx/git tools/git")
        self.assertEqual(self.quarantine(), ["tools", "tools/git"])

    def test_a_relative_directory_of_the_user_counts_in_each_repository(self):
        self.git("config", "--global", "core.hooksPath", "tools/hooks", cwd=self.home)
        nested = self.project / "n"
        self.attack("git init -q n; mkdir -p n/tools/hooks; cp $EVIL n/tools/hooks/pre-commit", nested)
        self.assertEqual(self.quarantine(), ["n/tools/hooks/pre-commit"])
        self.attack("mkdir -p m/tools/hooks; cp $EVIL m/tools/hooks/pre-commit; sleep 0.3; git init -q m", self.project / "m")
        self.assertEqual(self.quarantine(), ["m/tools/hooks/pre-commit", "n/tools/hooks/pre-commit"])
        self.attack("git init -q l; mkdir -p xx/hooks; cp $EVIL xx/hooks/pre-commit; ln -s ../xx l/tools", self.project / "l")
        self.assertIn("l/tools", self.quarantine())
        (nested / "tools/hooks").mkdir(parents=True, exist_ok=True)
        (nested / "tools/hooks/post-merge").write_text("#!/bin/sh\n")
        out, _ = self.attack("echo x >n/tools/hooks/post-merge || echo blocked; mkdir -p o/tools/hooks && echo x >o/tools/hooks/a && echo free", nested)
        self.assertEqual(out, "blocked\nfree\n")

    def test_a_relative_program_counts_in_a_new_worktree(self):
        self.git("config", "core.fsmonitor", "./watch")
        (self.project / "watch").write_text("#!/bin/sh\n")
        self.git("add", "watch")
        self.git("commit", "-qm", "watch")
        self.git("rm", "-q", "--cached", "watch")
        self.git("commit", "-qm", "no watch")
        (self.project / "watch").unlink()
        self.attack("git worktree add -q w 2>/dev/null; cp $EVIL w/watch", self.project / "w")
        self.assertEqual(self.quarantine(), ["w/watch"])


class Links(TargetTest):
    def test_a_link_of_the_user_cannot_be_replaced_by_a_file(self):
        (self.project / "envfile").write_text("mine\n")
        (self.project / "sub").mkdir()
        (self.project / ".envrc").symlink_to("envfile")
        (self.project / "sub/.envrc").symlink_to("../envfile")
        self.box("rm .envrc sub/.envrc; echo evil >.envrc; echo evil >sub/.envrc; sleep 0.3")
        self.assertEqual(self.quarantine(), [".envrc", "sub/.envrc"])
        (self.project / ".envrc").symlink_to("envfile")
        self.box("ls -l .envrc")
        self.assertTrue((self.project / ".envrc").is_symlink())


class Worktree(TargetTest):
    def test_the_configuration_of_the_main_repository(self):
        tree = self.home / "tree"
        self.git("config", "core.fsmonitor", "./watch")
        self.git("config", "include.path", "extra")
        self.git("worktree", "add", "-q", "-b", "tree", tree)
        self.attack("cp $EVIL watch 2>/dev/null || printf '#!/bin/sh\\ntouch %s\\n' " f"{self.marker} >watch; chmod +x watch; "
                    f"printf '[core]\\n\\tfsmonitor = {tree}/w\\n' >{self.project}/.git/extra", tree, cwd=tree)
        found = [os.path.relpath(json.loads(record.read_text())["path"], self.home)
                 for record in self.home.glob(".claudebox/instances/*/quarantine/*/record.json")]
        self.assertEqual(sorted(found), sorted([os.path.relpath(self.project, self.home) + "/.git/extra", "tree/watch"]))
