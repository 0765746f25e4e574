# SPDX-License-Identifier: MIT
"""A hostile repository, or an earlier box: what it leaves does not hang, fill or lead the launcher, nor show in what it says."""
import errno
import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess
import threading
import time

from lib.box import CLAUDEBOX, BoxTest, tree
from lib.caller import without_openat2
from lib.other_host import OtherHost
from lib.stress import STRESS

AS_ROOT = True
CANARY = "canary-5519"
SECRET = f'{{"env": {{"VICTIM_TOKEN": "{CANARY}"}}, "mcpServers": {{"victim": {{"env": {{"VICTIM_TOKEN": "{CANARY}"}}}}}}}}'
# Everything in a project that the launcher looks at.
READ = (".git", ".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claudebox/tools.txt", "CLAUDE.md", ".env", ".gitmodules",
        ".git/HEAD", ".git/config", ".git/commondir", ".git/config.worktree", ".git/worktrees", ".git/objects", ".claude", ".claudebox")
MOST_SECONDS = 15
MOST_MEMORY = 200 * 1024  # kB; a sanitized build needs more than the usual 10 MB


class Hostile(BoxTest):
    def setUp(self):
        super().setUp()
        self.victims = self.home / "victims"
        self.victims.mkdir()
        for name in ("settings.json", "settings.local.json", "tools.txt", "config", "HEAD"):
            (self.victims / name).write_text(SECRET)
        key = self.home / ".ssh" / "id_ed25519"
        key.parent.mkdir()
        key.write_text(CANARY + "\n")

    def holds(self, *arguments, cwd=None, **options):
        """It ends soon, small, and says nothing that it should not know; returns what it said."""
        before = tree(self.victims)
        started = time.monotonic()
        command = [CLAUDEBOX, *(arguments or ("--yes", "--exec", "true"))]
        process = subprocess.Popen(command, cwd=cwd or self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, **options)
        timer = threading.Timer(30, process.kill)
        timer.start()
        said = process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        timer.cancel()
        self.assertIn(process.returncode, (0, 125), said)
        self.assertLess(time.monotonic() - started, MOST_SECONDS)
        self.assertLess(usage.ru_maxrss, MOST_MEMORY)
        self.assertNotIn(CANARY, said)
        self.assertNotIn("VICTIM", said)
        self.assertEqual(tree(self.victims), before)
        return said


class Traps(Hostile):
    KINDS = ("fifo", "socket", "directory", "sparse", "dangling", "loop", "key", "zero", "victims")

    def trap(self, kind, place):
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "fifo":
            os.mkfifo(place)
        elif kind == "socket":
            here = os.getcwd()
            os.chdir(place.parent)  # its name may be no longer than 108 bytes
            server = socket.socket(socket.AF_UNIX)
            server.bind(place.name)
            os.chdir(here)
            self.addCleanup(server.close)
        elif kind == "directory":
            (place / "x").mkdir(parents=True)
        elif kind == "sparse":
            with open(place, "wb") as file:
                file.truncate(1 << 40)
        else:
            place.symlink_to({"dangling": "/nowhere", "loop": place.name, "key": self.home / ".ssh/id_ed25519", "zero": "/dev/zero",
                              "victims": self.victims}[kind])

    def each(self, kind, **options):
        """One at a time where the rest matters, the others together."""
        for name in READ:
            shutil.rmtree(self.project)
            self.project.mkdir()
            if name.startswith(".git/"):
                (self.project / ".git/objects").mkdir(parents=True)
                (self.project / ".git/HEAD").write_text("ref: refs/heads/main\n")
                place = self.project / name
                if place.is_dir():
                    place.rmdir()
                place.unlink(missing_ok=True)
            self.trap(kind, self.project / name)
            self.holds("--yes", "--exec", "true", **options)

    def test_fifos(self):
        self.each("fifo")

    def test_sockets(self):
        self.each("socket")

    def test_directories(self):
        self.each("directory")

    def test_sparse_files(self):
        self.each("sparse")

    def test_links_to_nowhere_and_to_themselves(self):
        self.each("dangling")
        self.each("loop")

    def test_links_to_a_key_and_to_a_device(self):
        self.each("key")
        self.each("zero")

    def test_links_to_a_directory_of_the_users(self):
        """.claude -> ~/other: the settings there are not the project's."""
        self.each("victims")

    def test_links_without_openat2(self):
        for error in (errno.ENOSYS, errno.EPERM):
            for name in (".claude", ".claudebox"):
                (self.project / name).symlink_to(self.victims)
            self.holds("--yes", "--exec", "true", preexec_fn=without_openat2(error))
            shutil.rmtree(self.project)
            self.project.mkdir()
            (self.project / ".mcp.json").write_text('{"mcpServers": {"own": {"env": {"OWN_TOKEN": "x1234567890"}}}}')
            self.assertIn("OWN_TOKEN", self.holds("--yes", "--exec", "true", preexec_fn=without_openat2(error)))
            (self.project / ".mcp.json").unlink()

    def test_a_file_that_grows_and_is_replaced_while_it_is_read(self):
        stop = threading.Event()
        place = self.project / ".mcp.json"

        def change():
            while not stop.is_set():
                place.write_text("[" * 1000)
                with open(place, "a", encoding="ascii") as file:
                    file.write("x" * 200000)
                place.unlink()
                place.symlink_to(self.victims / "settings.json")
                place.unlink()
                os.mkfifo(place)
                place.unlink()
        thread = threading.Thread(target=change)
        thread.start()
        try:
            for _ in range(15 * STRESS):
                self.holds("--dry-run")
        finally:
            stop.set()
            thread.join()

    def test_a_directory_with_very_many_entries(self):
        for i in range(20000):
            os.close(os.open(self.project / f".env.{i}", os.O_CREAT | os.O_WRONLY))
        self.assertLess(len(self.holds()), 20000)

    def test_a_tree_without_end(self):
        place = self.project
        for _ in range(100):
            place = place / "d"
            place.mkdir()
            for name in ("a", "b", "c"):
                (place / name).mkdir()
        self.holds()


class State(Hostile):
    def claude(self):
        self.holds()
        return pathlib.Path(self.plan()["instance"]) / "claude"

    def test_files_that_would_fill_the_memory(self):
        """A hundred bytes of memory for each byte of JSON."""
        claude = self.claude()
        store = self.home / ".claudebox/sign-in/store"
        for text in ('{"a": [' + "[]," * 5_000_000 + "[]]}", "[" * 1_000_000, '{"a":' * 1_000_000, '{"' + "x" * 3_000_000 + '": 1}',
                     "{" + ",".join(f'"{i}":0' for i in range(700_000)) + "}"):
            for place in (claude / ".claude.json", claude / "settings.json", store / ".credentials.json"):
                place.write_text(text)
            self.holds()
            json.loads((claude / ".claude.json").read_text())

    def test_long_files_of_honest_boxes_are_kept(self):
        claude = self.claude()
        own = json.loads((claude / ".claude.json").read_text())
        own["history"] = [{"display": ', [ { \\" ' * 20, "number": i} for i in range(20_000)]
        (claude / ".claude.json").write_text(json.dumps(own))
        self.holds()
        self.assertEqual(len(json.loads((claude / ".claude.json").read_text())["history"]), 20_000)

    def test_traps_in_place_of_every_record(self):
        """What lies beside the state is no box's to write, but an older claudebox, or a person, may have."""
        self.claude()
        instance = pathlib.Path(self.plan()["instance"])
        for name in ("instance.json", "settings-base.json"):
            for kind in ("fifo", "directory"):
                place = instance / name
                place.unlink() if place.is_file() else None
                if place.is_dir():
                    shutil.rmtree(place)
                os.mkfifo(place) if kind == "fifo" else place.mkdir()
                self.holds()
                if place.is_dir():
                    shutil.rmtree(place)
                else:
                    place.unlink()


class Repository(Hostile):
    def test_nothing_of_the_repository_is_executed_or_read(self):
        """git itself is asked when the configuration is not plain."""
        self.repository(self.project)
        hit = self.home / "hit"
        evil = self.project / "evil"
        evil.write_text(f"#!/bin/sh\necho hit >>{hit}\n")
        evil.chmod(0o755)
        for include in (self.home / ".ssh/id_ed25519", "/dev/zero", self.project / "fifo", self.project / ".git/config", "~/victims/config"):
            (self.project / ".git/config").write_text(
                f"[core]\n\trepositoryformatversion = 0\n\tfsmonitor = {evil}\n\tsshCommand = {evil}\n\thooksPath = {self.project}\n\tpager = {evil}\n"
                f"\teditor = {evil}\n\taskPass = {evil}\n\tworktree = {self.victims}\n[alias]\n\tconfig = !{evil}\n[credential]\n\thelper = !{evil}\n"
                f"[gpg]\n\tprogram = {evil}\n[filter \"x\"]\n\tclean = {evil}\n[diff]\n\texternal = {evil}\n[include]\n\tpath = {include}\n"
                "[extensions]\n\tworktreeConfig = true\n")
            if not (self.project / "fifo").exists():
                os.mkfifo(self.project / "fifo")
            (self.project / ".git/objects/info").mkdir(exist_ok=True)
            (self.project / ".git/objects/info/alternates").write_text(f"{self.victims}\n")
            self.holds("--yes", "--exec", "true")
            self.holds("--check")
        self.assertFalse(hit.exists())

    def test_pointers_in_circles(self):
        for text in ("gitdir: .git\n", "gitdir: .\n", "gitdir: ..\n", "gitdir: loop\n", "gitdir: \n", "gitdir: " + "../" * 1300 + "x\n",
                     "gitdir: /proc/self/cwd\n", "gitdir: /dev/zero\n", f"gitdir: {self.home}/.ssh\n", "x" * 5000, "\0" * 100):
            (self.project / ".git").write_text(text)
            (self.project / "loop").unlink(missing_ok=True)
            (self.project / "loop").symlink_to("loop")
            self.holds()

    def conversation(self, cwd):
        return self.box("cat ~/.claude/conversation 2>/dev/null; :", cwd=cwd)

    def remember(self, cwd):
        self.box(f"echo {CANARY} >~/.claude/conversation", cwd=cwd)

    def test_a_pointer_to_a_repository_below_does_not_open_its_state(self):
        inner = self.repository(self.project / "inner")
        self.git("clone", "-q", "--bare", inner, self.project / "bare.git")
        self.git("worktree", "add", "-q", self.home / "tree", "main", cwd=self.project / "bare.git")
        for cwd, pointer in ((inner, "inner/.git"), (self.home / "tree", "bare.git"), (self.home / "tree", "bare.git/worktrees/tree")):
            self.remember(cwd)
            (self.project / ".git").write_text(f"gitdir: {pointer}\n")
            self.assertEqual(self.conversation(self.project), "", pointer)
            self.assertEqual(self.conversation(cwd), f"{CANARY}\n")
            (self.project / ".git").unlink()

    def test_a_box_that_removes_its_repository_does_not_get_the_one_around(self):
        outer = self.repository(self.home / "outer")
        self.remember(outer)
        inner = self.repository(outer / "vendor" / "inner")
        (inner / "sub").mkdir()
        for cwd, script in ((inner, "rm -rf .git"), (inner / "sub", "rm -f ../.git/HEAD")):
            if not (inner / ".git").exists():
                self.git("init", "-q", inner)
            self.assertEqual(self.conversation(cwd), "")
            self.box(script, cwd=cwd)
            done = self.claudebox("--yes", "--exec", "sh", "-c", f"cat ~/.claude/conversation {outer}/file.txt; ls {outer}/.git", cwd=cwd)
            self.assertEqual(done.stdout, "", script)
            self.assertIn("was not the project's at an earlier start", done.stderr)

    def test_a_repository_of_another_user_around_the_project(self):
        """Anybody can make /tmp/.git; what runs in a repository is its owner's to say."""
        if os.getuid():
            return  # only root can give files away
        outer = self.repository(self.home / "outer")
        (outer / "sub").mkdir()
        self.assertEqual(self.box("cat ../file.txt", cwd=outer / "sub"), "one\n")
        for foreign in (outer / ".git", outer):
            os.chown(foreign, 65534, 65534)
            done = self.claudebox("--yes", "--exec", "cat", outer / "file.txt", cwd=outer / "sub")
            self.assertEqual(done.stdout, "")
            self.assertIn("belongs to someone else", done.stderr)
            os.chown(foreign, 0, 0)

    def test_a_repository_that_is_all_of_tmp(self):
        """A project below /tmp is fine; with a repository around it, everybody's sockets would come along."""
        host = OtherHost(self, {})
        script = 'git init -q /tmp && echo canary >/tmp/other && mkdir /tmp/p && cd /tmp/p && exec "$@"'
        done = host.run("sh", "-c", script, "sh", CLAUDEBOX, "--yes", "--exec", "cat", "/tmp/other")
        self.assertEqual(done.stdout, "")
        self.assertIn("git is not available", done.stderr)

    def test_a_subdirectory_that_never_was_a_project_is_part_of_its_repository(self):
        outer = self.repository(self.home / "outer")
        (outer / "sub").mkdir()
        self.remember(outer)
        self.assertEqual(self.conversation(outer / "sub"), f"{CANARY}\n")

    def test_the_users_claude_directory_in_the_project_by_a_link(self):
        """~/.claude -> ~/dotfiles/claude: the box would write what the host's claude obeys."""
        (self.project / "claude").mkdir()
        (self.home / ".claude").symlink_to(self.project / "claude")
        self.assertIn("conversations", self.refused())
        self.assertIn("conversations", self.refused(cwd=self.project / "claude"))


class Writing(Hostile):
    """What cannot be written is said, and the old file is still there."""

    def test_a_limit_on_the_size_of_files(self):
        self.box("true")
        claude = pathlib.Path(self.plan()["instance"]) / "claude"
        (claude / ".claude.json").write_text('{"old": 1}')
        before = tree(self.home / ".claudebox")
        done = self.claudebox("--yes", "--exec", "true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)))
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertRegex(done.stderr, r"(?m)^hint: .*ulimit -f")
        self.assertEqual(tree(self.home / ".claudebox"), before)

    def test_a_profile_where_a_box_can_write(self):
        self.box("mkdir -p ~/.claude/x; echo {} >~/.claude/x/p.json")
        claude = pathlib.Path(self.plan()["instance"]) / "claude"
        profiles = self.home / ".claudebox/profiles"
        profiles.mkdir()
        main = self.repository(self.home / "main")
        (main / ".git/p.json").write_text("{}")
        self.git("worktree", "add", "-q", "-b", "topic", self.home / "linked", cwd=main)
        for target, cwd in ((claude / "x/p.json", None), (main / ".git/p.json", self.home / "linked")):
            (profiles / "p.json").unlink(missing_ok=True)
            (profiles / "p.json").symlink_to(target)
            self.assertIn("where a box can change it", self.refused("--yes", "--profile", "p", "--exec", "true", cwd=cwd))
