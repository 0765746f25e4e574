# SPDX-License-Identifier: MIT
"""The kept home: what persists, what a session can leave for the next one, and what never leaves it."""
import json
import os
import pathlib
import socket
import subprocess
import threading

from lib.box import CLAUDEBOX, BoxTest, tree, until
from lib.caller import exchange
from lib.stress import STRESS
from lib.terminal import Terminal

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
        audit = self.claudebox("--yes", "--audit=full", "--exec", "true").stderr
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
            place.rename(place.with_name(f"away-{place.name[:100]}-{len(os.listdir(place.parent))}"))
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

    def test_the_longest_name(self):
        name = "n" * 255
        option = f"--mount-ro={self.notes}:{self.home}/{name}"
        self.assertEqual(self.claudebox("--yes", option, "--exec", "true").returncode, 0)
        self.plant(self.kept / name, str(self.victims / "directory"))
        done = self.claudebox("--yes", option, "--exec", "cat", f"{self.home}/{name}/a")
        self.assertEqual((done.returncode, done.stdout), (0, "note\n"), done.stderr)
        self.assertEqual(tree(self.victims), self.before)

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
        self.assertTrue(first.startswith(f"{self.home}/.local {self.home}/.local/bin /run/claudebox/command:{self.home}/.local/bin:/usr/"), first)
        self.assertEqual((xdg, there), ("1", "there"))


class Grants(HomeTest):
    """A box that gets more than the approved one is told about the home, and can start with an empty one."""

    def ask(self, *options, answer="y\n", env=None, script="ls -A ~"):
        terminal = Terminal([CLAUDEBOX, *map(str, options), "--exec", "sh", "-c", script], {**self.env, "NO_COLOR": "1", **(env or {})}, str(self.project), columns=250)
        self.addCleanup(terminal.close)
        terminal.expect(r"Start\? \[y/N\]")
        terminal.send(answer)
        terminal.wait(20)
        return terminal.output.decode()

    def test_new_grants_are_named(self):
        data = self.other("data")
        token = {"CLAUDEBOX_EXTRA_ENV": "MY_TOKEN", "MY_TOKEN": "CANARY-VALUE"}
        self.profile(network="none")
        self.ask(script="echo kept >~/.note")
        for options, env, profile, named in ((("--mount-ro", data), {}, {"network": "none"}, f"mount read-only {data}"),
                                             ((), token, {"network": "none"}, "env MY_TOKEN"),
                                             ((), {}, {"network": "inet"}, "network inet"),
                                             ((), {}, {"network": "none", "terminal": "direct"}, "terminal direct")):
            self.profile(**profile)
            out = self.ask(*options, env=env, answer="n\n")
            self.assertIn(f"earlier sessions wrote the home of this box, and programs that they left there can use what is new: {named}", " ".join(out.split()))
            self.assertIn("Start? [y/N] (d: show everything, e: with an empty home)", out)
            self.assertNotIn("CANARY", out)

    def test_what_is_no_grant(self):
        self.ask(script="echo kept >~/.note", env={"EDITOR": "vi"})
        self.profile(limits={"home": "5G"})
        for options, env in (((), {}), (("--network", "none"), {}), ((), {"EDITOR": "vi", "PAGER": "less"})):
            out = self.ask(*options, env=env, answer="n\n")
            self.assertNotIn("earlier sessions", out)
            self.assertNotIn("empty home", out)

    def test_an_empty_home_keeps_the_earlier_one(self):
        data = self.other("data")
        self.ask(script="echo kept >~/.note")
        out = self.ask("--mount-ro", data, answer="e\n", script="test -e ~/.note || echo it-is-empty; echo new >~/.second")
        self.assertIn("it-is-empty", out)
        self.assertIn("home.kept-1' until claudebox --gc=home", out)
        self.assertEqual((self.instance() / "home.kept-1" / ".note").read_text(), "kept\n")
        self.assertEqual(self.box("cat ~/.second"), "new\n")
        self.assertNotIn("earlier sessions", self.ask("--mount-ro", data))

    def test_e_is_no_answer_without_an_offer(self):
        self.assertIn("not started", self.ask(answer="e\n"))

    def test_without_a_question_the_command_is_named(self):
        self.ask(script="true")
        data = self.other("data")
        done = self.claudebox("--yes", "--mount-ro", data, "--exec", "true")
        self.assertIn("or `claudebox --gc=home --instance .`, which asks", " ".join(done.stderr.split()))

    def test_the_first_box_of_a_project_has_no_earlier_sessions(self):
        self.assertNotIn("earlier sessions", self.ask("--mount-ro", self.other("data")))


class Sizes(HomeTest):
    def gc(self, *options, status=0):
        done = self.claudebox("--gc=home", *(options or ("--yes",)))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def listed(self):
        return json.loads(self.claudebox("--instances=json").stdout)

    def test_instances_shows_the_size(self):
        self.box("head -c 3000000 /dev/zero >~/big; ln -s / ~/root; mkfifo ~/fifo")
        row, = self.listed()["instances"]
        self.assertTrue(3000000 <= row["home"]["size"] <= row["size"] < 4000000, row)
        self.assertTrue(row["home"]["size_complete"])
        self.assertIsNone(self.listed()["shared_home"])
        self.assertRegex(self.claudebox("--instances").stdout, r"3\.\d MB \(home: 3\.\d MB, snapshots: ")
        self.profile(home="shared")
        self.box("head -c 2000000 /dev/zero >~/big")
        self.assertTrue(2000000 <= self.listed()["shared_home"]["size"] < 2200000)
        self.assertRegex(self.claudebox("--instances").stdout, r"The home that boxes share: 2\.\d MB")

    def test_gc_home(self):
        other = self.other()
        self.box("head -c 1000000 /dev/zero >~/big; mkdir -p ~/a/b; chmod 0 ~/a; echo c >~/.claude/conversation")
        self.box("echo x >~/.note", cwd=other)
        self.profile(home="shared")
        self.box("echo x >~/.note")
        self.profile()
        before = tree(self.home / ".claudebox")
        self.assertIn("The home that boxes share", self.gc("--dry-run"))
        self.assertEqual(len(json.loads(self.gc("--dry-run=json"))["instances"]), 2)
        self.assertIn("cannot ask for confirmation", self.gc("--network=full", status=125))
        self.assertEqual(tree(self.home / ".claudebox"), before)
        out = self.gc()
        self.assertRegex(out, r"Removed 3 home directories, 1\.\d MB\.")
        self.assertEqual(self.gc(), "No home directory is kept.\n")
        self.assertEqual(self.box("cat ~/.claude/conversation; ls -A ~"), "c\n.claude\n.local\nbin\nproject\n")

    def test_gc_home_of_one_project(self):
        other = self.other()
        self.box("echo x >~/.note")
        self.box("echo y >~/.note", cwd=other)
        self.profile(home="shared")
        self.box("echo z >~/.note")
        self.profile()
        ids = {row["root"]: row["id"] for row in self.listed()["instances"]}
        for name in (ids[str(other)], str(other), f"{other}/../{other.name}/"):
            self.assertEqual([row["id"] for row in json.loads(self.gc("--instance", name, "--dry-run=json"))["instances"]], [ids[str(other)]], name)
            self.assertIn("1 instance", self.claudebox("--instances", "--instance", name).stdout)
        self.assertIn("there is no instance of '/nowhere'", self.gc("--instance", "/nowhere", status=125))
        self.assertIn("there is no instance of", self.gc("--yes", "--instance=0123456789abcdef", status=125))
        self.assertIn("Removed 1 home directory", self.gc("--yes", "--instance", ids[str(other)]))
        self.assertEqual(self.box("cat ~/.note; true", cwd=other), "")
        self.assertEqual(self.box("cat ~/.note"), "x\n")
        done = subprocess.run([self.under_test, "--gc=home", "--yes", "--instance", "."], cwd=self.project, env=self.env, capture_output=True, text=True, check=False)
        self.assertIn("Removed 1 home directory", done.stdout, done.stderr)
        self.profile(home="shared")
        self.assertEqual(self.box("cat ~/.note"), "z\n")

    def test_gc_home_keeps_the_home_of_a_running_box(self):
        for home in ("project", "shared"):
            self.profile(home=home)
            running = subprocess.Popen([self.under_test, "--yes", "--exec", "sh", "-c", "echo x >~/.note; echo ready; read x; cat ~/.note"], cwd=self.project,
                                       env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.assertEqual(running.stdout.readline(), "ready\n")
            out = self.gc(*(("--instance", ".", "--yes") if home == "project" else ()))
            self.assertIn("in use now", out)
            self.assertTrue(out.endswith("Nothing was removed: boxes use these homes.\n"), out)
            self.assertNotIn("Nothing was removed", self.gc("--dry-run"))
            self.assertEqual((running.communicate("\n", timeout=20)[0], running.returncode), ("x\n", 0))
            self.assertIn("Removed", self.gc())

    def test_an_interrupted_removal_is_finished(self):
        self.box("echo x >~/.note")
        (self.instance() / "home").rename(self.instance() / "home.kept-7")
        self.assertIn("Removed 1 home directory", self.gc())
        self.assertFalse((self.instance() / "home.kept-7").exists())

    def test_the_limit_warns(self):
        self.profile(limits={"home": "1M"})
        self.assertNotIn("its limit", self.claudebox("--yes", "--exec", "sh", "-c", "head -c 5000000 /dev/zero >~/big").stderr)
        self.assertIn("the home of the box has 4M, more than its limit of 1M", " ".join(self.claudebox("--yes", "--exec", "true").stderr.split()))
        self.profile(limits={"home": "1G"})
        self.assertNotIn("its limit", self.claudebox("--yes", "--exec", "true").stderr)
        self.assertEqual(self.plan()["home"]["limit"], 1 << 30)
        self.profile(limits={"home": "1K"})
        self.assertIn("is less than 1M", self.refused())

    def test_the_box_cannot_reach_the_records(self):
        self.profile(limits={"home": "1M"})
        self.box("true")
        self.assertTrue((self.instance() / "home.size").exists())
        self.assertEqual(self.box("find / -name 'home.*' -not -path '/proc/*' -not -path '/usr/*' 2>/dev/null; true"), "")


class Disk(HomeTest):
    def test_a_directory_that_cannot_be_made(self):
        """A full disk, or one without rights: a clear error, and nothing started."""
        self.box("true")
        instance = self.instance()
        (instance / "home").rename(self.home / "away")
        (instance / "home").write_text("not a directory")
        error = self.refused()
        self.assertIn("home': Not a directory", error)


class Trust(HomeTest):
    """Nothing on the host executes or trusts what a session put into its home."""

    def setUp(self):
        super().setUp()
        self.hit = self.home / "hit"
        planted = f"#!/bin/sh\\ntouch {self.hit}\\nexec /usr/bin/bwrap \"$@\"\\n"
        names = "bwrap claude git pasta nft nix systemd-run"
        self.box(f"for name in {names}; do printf '{planted}' >~/.local/bin/$name; chmod +x ~/.local/bin/$name; done; echo '{{\"network\": \"none\"}}' >~/p.json")
        self.kept = self.instance() / "home"
        self.assertTrue((self.kept / ".local/bin/bwrap").exists())

    def test_programs_on_path(self):
        self.repository(self.project)
        env = {"PATH": f"{self.kept}/.local/bin:{self.env['PATH']}"}
        for options in (("--yes", "--exec", "true"), ("--check",), ("--dry-run",), ("--yes", "--network", "inet", "--exec", "true")):
            self.claudebox(*options, env=env)
            self.assertFalse(self.hit.exists(), options)
        self.assertIn("bwrap", self.claudebox("--yes", "--exec", "true", env=env).stderr)

    def test_claude(self):
        env = {"PATH": f"{self.kept}/.local/bin:{self.env['PATH']}", "CLAUDEBOX_CLAUDE": ""}
        self.claudebox("--yes", env=env)
        self.assertFalse(self.hit.exists())
        for keys in ({"CLAUDEBOX_CLAUDE": str(self.kept / ".local/bin/claude")},):
            plan = self.claudebox("--dry-run=json", env={**env, **keys})
            self.assertTrue(plan.returncode == 125 or str(self.kept) in plan.stdout, plan.stderr)
        self.assertFalse(self.hit.exists())

    def test_a_profile_behind_a_link(self):
        profiles = self.home / ".claudebox" / "profiles"
        profiles.mkdir(exist_ok=True)
        (profiles / "default.json").symlink_to(self.kept / "p.json")
        self.refused()

    def test_a_project_in_it_is_refused(self):
        inside = self.kept / "inside"
        inside.mkdir()
        self.refused("--yes", "--exec", "true", cwd=inside)

    def test_a_mount_of_it_is_refused(self):
        self.refused("--yes", f"--mount-rw={self.kept}", "--exec", "true")

    def test_a_box_cannot_reach_the_host_by_its_startup_files(self):
        """~/.bashrc of the box runs in the box."""
        self.box(f"echo 'touch {self.hit}; touch ~/ran' >~/.bashrc")
        self.claudebox("--yes", "--exec", "bash", "-ic", "true")
        self.assertFalse(self.hit.exists())
        self.assertTrue((self.kept / "ran").exists())
