# SPDX-License-Identifier: MIT
"""The kept home: what persists, what a session can leave for the next one, and what never leaves it."""
import os
import pathlib
import socket
import subprocess
import threading
import unittest

from lib.box import BoxTest, tree, until
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

    def test_modes(self):
        """`shared` is one home for all projects, `none` is empty."""
        other = self.other()
        self.profile(home="shared")
        self.box("echo shared >~/.note")
        self.assertEqual(self.box("cat ~/.note", cwd=other), "shared\n")
        self.assertEqual((self.home / ".claudebox" / "home" / ".note").read_text(), "shared\n")
        audit = self.claudebox("--yes", "--exec", "true").stderr
        self.assertRegex(audit.replace("\n", " "), r"boxes +of +all +projects")
        self.profile(home="none")
        self.assertEqual(self.box("ls -A ~ | sort; echo x >~/.note"), ".claude\n.local\nbin\nproject\n")
        self.assertEqual(self.box("cat ~/.note 2>&1 | grep -c such"), "1\n")
        self.profile(home="project")
        self.assertEqual(self.box("cat ~/.note 2>&1 | grep -c such"), "1\n")

    def test_two_boxes_and_worktrees_share_it(self):
        repository = self.repository(self.home / "repo")
        linked = self.home / "linked"
        self.git("worktree", "add", "-q", linked, cwd=repository)
        self.box("echo main >~/.note", cwd=repository)
        self.assertEqual(self.box("cat ~/.note; git status --short; ls -A ~/repo", cwd=linked), "main\n.git\n")
        first = subprocess.Popen([self.under_test, "--yes", "--exec", "sh", "-c", "echo up >~/.up; while [ ! -e ~/.down ]; do sleep 0.02; done; cat ~/.down"],
                                 cwd=repository, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(first.stdout.close)
        self.assertTrue(until(lambda: (self.instance(repository) / "home" / ".up").exists()))
        self.assertEqual(self.box("cat ~/.up; echo down >~/.new; mv ~/.new ~/.down", cwd=linked), "up\n")
        self.assertEqual((first.communicate(timeout=20)[0], first.returncode), ("down\n", 0))

    def test_read_only_project_and_nested(self):
        for keys in ({"project": "read-only"}, {"nested": True}):
            if os.getuid() == 0 and "nested" in keys:
                continue
            self.profile(**keys)
            self.box("echo kept >~/.note")
            self.assertEqual(self.box("cat ~/.note; pwd"), f"kept\n{self.project}\n")

    def test_state_of_an_earlier_version_gets_a_home(self):
        self.profile(home="none")
        self.box("echo old >~/.claude/old")
        self.profile()
        self.assertEqual(self.box("cat ~/.claude/old; echo new >~/.note"), "old\n")
        self.assertEqual(self.box("cat ~/.note"), "new\n")

    @unittest.skipIf(os.getuid() == 0, "root can open every directory")
    def test_permissions_that_a_box_removed(self):
        notes = self.other("notes")
        option = f"--mount-ro={notes}:{self.home}/deep/er/notes"
        for script in ("chmod 0 ~", "chmod 0 ~/deep ~/.claude", "chmod 0 ~/deep/er", "chmod 0 ~/.local/bin ~/.local", "rm -rf ~/deep; mkdir -m 0 ~/deep"):
            done = self.claudebox("--yes", option, "--exec", "sh", "-c", f"{script} 2>/dev/null; true")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = self.claudebox("--yes", option, "--exec", "sh", "-c", "pwd; test -d ~/deep/er/notes && echo found")
            self.assertEqual((done.returncode, done.stdout), (0, f"{self.project}\nfound\n"), (script, done.stderr))

    def test_a_link_to_an_agent_that_was_updated(self):
        """A link of an earlier launch follows the host's; one that a session changed stays."""
        versions = self.home / ".local" / "share" / "agent"
        versions.mkdir(parents=True)
        link = self.home / ".local" / "bin" / "claude"
        link.parent.mkdir()
        for version in ("1", "2"):
            (versions / version).write_text(f"#!/bin/sh\necho version {version}\n")
            (versions / version).chmod(0o755)
            link.unlink(missing_ok=True)
            link.symlink_to(versions / version)
            env = {"CLAUDEBOX_CLAUDE": str(link)}
            self.assertEqual(self.box("claude; readlink ~/.local/bin/claude", env=env), f"version {version}\n{versions}/{version}\n")
        self.box("ln -sfn /own ~/.local/bin/claude; ln -s x ~/.local/bin/other", env=env)
        self.assertEqual(self.box("readlink ~/.local/bin/claude ~/.local/bin/other", env=env), "/own\nx\n")
        self.box("ln -sfn " + str(versions / "2") + " ~/.local/bin/claude", env=env)
        self.assertEqual(self.box("readlink ~/.local/bin/claude; echo $?"), "1\n", "no longer planned: removed")


class Planted(HomeTest):
    """What a session leaves in the place of a mount point is renamed, reported and never followed."""

    def setUp(self):
        super().setUp()
        self.victims = self.home / "victims"
        (self.victims / "directory").mkdir(parents=True)
        (self.victims / "file").write_text("victim")
        self.before = tree(self.victims)
        self.notes = self.other("notes")
        (self.notes / "a").write_text("note\n")
        self.box("true")
        self.kept = self.instance() / "home"

    def launch(self, script="true"):
        done = self.claudebox("--yes", f"--mount-ro={self.notes}:{self.home}/sub/notes", f"--mount-ro={self.notes}/a:{self.home}/sub/file",
                              "--exec", "sh", "-c", f"cat ~/sub/notes/a ~/sub/file; test -d ~/.claude/. && {script}")
        self.assertEqual((done.returncode, done.stdout), (0, "note\nnote\n"), done.stderr)
        self.assertEqual(tree(self.victims), self.before)
        return [line for line in done.stderr.splitlines() if "in the way of a mount" in line]

    def plant(self, place, how):
        """Replaces a name in the home, as a session could have done."""
        if place.is_dir() and not place.is_symlink():
            place.rename(place.with_name(f"away-{place.name}-{len(os.listdir(place.parent))}"))
        else:
            place.unlink(missing_ok=True)
        if how == "fifo":
            os.mkfifo(place)
        elif how == "file":
            place.write_text("planted")
        elif how == "directory":
            place.mkdir()
            (place / "own").write_text("own")
        else:
            place.symlink_to(how)

    def test_every_kind_at_every_point(self):
        ways = ("fifo", "file", str(self.victims / "directory"), f"/oldroot{self.victims}/directory", str(self.victims / "file"),
                "../../../../../victims/directory", "/nowhere", "..", "directory")
        for name in (".claude", "project", "sub", "sub/notes", "sub/file", "bin"):
            for how in ways:
                self.launch()
                self.plant(self.kept / name, how)
                reports = self.launch()
                covered = how == "directory" and name != "sub/file" or how == "file" and name == "sub/file"
                self.assertEqual(len(reports), 0 if covered else 1, (name, how, reports))
                if not covered:
                    self.assertIn(f"'~/{name}' in the box's home was in the way of a mount, and is now named '{name.split('/')[-1]}.moved-", reports[0])
        moved = sorted(path.name for path in self.kept.iterdir() if ".claude.moved-" in path.name)
        self.assertEqual(moved, sorted(f".claude.moved-{number}" for number in range(1, len(ways))), "nothing is lost")

    def test_all_names_taken(self):
        for number in range(1, 100):
            (self.kept / f".claude.moved-{number}").write_text("")
        self.plant(self.kept / ".claude", "file")
        self.assertRegex(self.launch()[0], r"\.claude\.moved-[0-9a-f]{16}'")

    def test_links_and_directories_are_left_alone(self):
        """~/.local/bin is no mount: what a session put there stays."""
        self.plant(self.kept / ".local", str(self.victims / "directory"))
        self.assertEqual(self.launch(), [])
        self.assertTrue((self.kept / ".local").is_symlink())

    def test_a_device_number_or_socket(self):
        (self.kept / ".claude").rmdir()
        with socket.socket(socket.AF_UNIX) as server:
            os.chdir(self.kept)
            server.bind(".claude")
            os.chdir("/")
        self.assertEqual(len(self.launch()), 1)

    def test_names_swapped_during_the_start(self):
        """Another box of the project exchanges a mount point and a link to the host meanwhile."""
        started = 0
        for name, target in ((".claude", self.victims / "directory"), ("sub", self.victims), ("sub/notes", f"/oldroot{self.victims}/directory")):
            self.launch()
            place = self.kept / name
            link = place.with_name(f"swapped-{place.name}")
            link.symlink_to(target)
            stop = threading.Event()

            def run(place=place, link=link, stop=stop):
                while not stop.is_set():
                    try:
                        exchange(place, link)
                    except OSError:
                        pass
            thread = threading.Thread(target=run)
            thread.start()
            try:
                done = [self.claudebox("--yes", f"--mount-ro={self.notes}:{self.home}/sub/notes", "--exec", "true")
                        for _ in range(8 * STRESS)]
            finally:
                stop.set()
                thread.join()
            for each in done:
                self.assertIn(each.returncode, (0, 125), each.stderr)
                if each.returncode:
                    self.assertRegex(each.stderr, "start again|check the owner")
                else:
                    started += 1
            self.assertEqual(tree(self.victims), self.before)
        self.assertGreater(started, 0)


class Installs(HomeTest):
    """Package managers install into ~/.local, and the next session has the programs on PATH."""

    def test_npm(self):
        package = self.other("package")
        (package / "package.json").write_text('{"name": "hello-home", "version": "1.0.0", "bin": {"hello-home": "cli.js"}}')
        (package / "cli.js").write_text("#!/usr/bin/env node\nconsole.log('from npm')\n")
        subprocess.run(["npm", "pack", "--silent", str(package)], cwd=self.project, env=self.env, check=True, stdout=subprocess.DEVNULL)
        out = self.box("npm config get prefix; npm i -g --offline --silent ./hello-home-1.0.0.tgz; command -v hello-home")
        self.assertEqual(out, f"{self.home}/.local\n{self.home}/.local/bin/hello-home\n")
        self.assertEqual(self.box("hello-home"), "from npm\n")
        self.assertEqual(self.box("npm config set prefix /elsewhere; npm config get prefix"), "/elsewhere\n", "the user's own setting ranks higher")

    def test_variables(self):
        out = self.box('echo "$CARGO_INSTALL_ROOT $GOBIN $PATH"; env | grep -c ^XDG_; test -d ~/.local/bin && echo there', env={"XDG_CACHE_HOME": "/x"})
        first, xdg, there = out.splitlines()
        self.assertTrue(first.startswith(f"{self.home}/.local {self.home}/.local/bin {self.home}/.local/bin:/usr/"), first)
        self.assertEqual((xdg, there), ("1", "there"))
