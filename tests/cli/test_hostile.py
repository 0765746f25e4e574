# SPDX-License-Identifier: MIT
"""Files of a hostile repository or of an earlier box do not make claudebox hang, exhaust memory, or read or print other files."""
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
# Every file in a project that claudebox reads.
READ = (".git", ".mcp.json", ".claude/settings.json", ".claude/settings.local.json", ".claudebox/tools.txt", "CLAUDE.md",
        "CLAUDE.local.md", ".claude/CLAUDE.md", ".env", ".gitmodules", ".gitattributes", ".git/info/attributes", ".git/lfs",
        ".git/HEAD", ".git/config", ".git/commondir", ".git/config.worktree", ".git/worktrees", ".git/objects", ".git/modules/m/config", ".git/modules/m/HEAD",
        ".git/logs/refs/stash", ".git/index", "lib/.git", "lib/.git/HEAD", "lib/.git/packed-refs", "lib/.git/refs", ".claude",
        ".claudebox")
MAX_SECONDS = 15
MAX_MEMORY = 200 * 1024  # kB; an ordinary build needs 10 MB, one with sanitizers more


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

    def run_bounded(self, *arguments, cwd=None, **options):
        """Checks that claudebox ends in time, uses little memory and prints no secret. Returns its output."""
        before = tree(self.victims)
        started = time.monotonic()
        command = [CLAUDEBOX, *(arguments or ("--yes", "--exec", "true"))]
        process = subprocess.Popen(command, cwd=cwd or self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, **options)
        timer = threading.Timer(30, process.kill)
        timer.start()
        output = process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        timer.cancel()
        self.assertIn(process.returncode, (0, 125), output)
        self.assertLess(time.monotonic() - started, MAX_SECONDS)
        self.assertLess(usage.ru_maxrss, MAX_MEMORY)
        self.assertNotIn(CANARY, output)
        self.assertNotIn("VICTIM", output)
        self.assertEqual(tree(self.victims), before)
        return output


class Traps(Hostile):
    KINDS = ("fifo", "socket", "directory", "sparse", "dangling", "loop", "key", "zero", "victims")

    def trap(self, kind, place):
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "fifo":
            os.mkfifo(place)
        elif kind == "socket":
            here = os.getcwd()
            os.chdir(place.parent)  # the path of a socket has at most 108 bytes
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

    def replace_each(self, kind, **options):
        """Replaces each file that claudebox reads, one at a time, by a trap of this kind."""
        for name in READ:
            shutil.rmtree(self.project)
            self.project.mkdir()
            if name.startswith(".git/"):
                (self.project / ".git/objects").mkdir(parents=True)
                (self.project / ".git/HEAD").write_text("ref: refs/heads/main\n")
                (self.project / ".git/modules/m").mkdir(parents=True)
                (self.project / ".git/modules/m/HEAD").write_text("ref: refs/heads/main\n")
                place = self.project / name
                if place.is_dir():
                    place.rmdir()
                place.unlink(missing_ok=True)
            self.trap(kind, self.project / name)
            self.run_bounded("--yes", "--exec", "true", **options)

    def test_fifos(self):
        self.replace_each("fifo")

    def test_sockets(self):
        self.replace_each("socket")

    def test_directories(self):
        self.replace_each("directory")

    def test_sparse_files(self):
        self.replace_each("sparse")

    def test_dangling_and_looping_links(self):
        self.replace_each("dangling")
        self.replace_each("loop")

    def test_links_to_a_key_and_to_a_device(self):
        self.replace_each("key")
        self.replace_each("zero")

    def test_links_to_another_directory_of_the_user(self):
        """The settings in ~/other are not read through a link .claude -> ~/other."""
        self.replace_each("victims")

    def test_links_without_openat2(self):
        for error in (errno.ENOSYS, errno.EPERM):
            for name in (".claude", ".claudebox"):
                (self.project / name).symlink_to(self.victims)
            self.run_bounded("--yes", "--exec", "true", preexec_fn=without_openat2(error))
            shutil.rmtree(self.project)
            self.project.mkdir()
            (self.project / ".mcp.json").write_text('{"mcpServers": {"own": {"env": {"OWN_TOKEN": "x1234567890"}}}}')
            self.assertIn("OWN_TOKEN", self.run_bounded("--yes", "--exec", "true", preexec_fn=without_openat2(error)))
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
                self.run_bounded("--dry-run")
        finally:
            stop.set()
            thread.join()

    def test_a_directory_with_very_many_entries(self):
        for i in range(20000):
            os.close(os.open(self.project / f".env.{i}", os.O_CREAT | os.O_WRONLY))
        self.assertLess(len(self.run_bounded()), 20000)

    def test_a_very_deep_tree(self):
        place = self.project
        for _ in range(100):
            place = place / "d"
            place.mkdir()
            for name in ("a", "b", "c"):
                (place / name).mkdir()
        self.run_bounded()


class State(Hostile):
    def claude(self):
        self.run_bounded()
        return pathlib.Path(self.plan()["instance"]) / "claude"

    def test_json_that_would_exhaust_memory(self):
        """JSON that takes a hundred bytes of memory for each byte of text."""
        claude = self.claude()
        store = self.home / ".claudebox/sign-in/store"
        for text in ('{"a": [' + "[]," * 5_000_000 + "[]]}", "[" * 1_000_000, '{"a":' * 1_000_000, '{"' + "x" * 3_000_000 + '": 1}',
                     "{" + ",".join(f'"{i}":0' for i in range(700_000)) + "}"):
            for place in (claude / ".claude.json", claude / "settings.json", store / ".credentials.json"):
                place.write_text(text)
            self.run_bounded()
            json.loads((claude / ".claude.json").read_text())

    def test_long_valid_files_are_kept(self):
        claude = self.claude()
        own = json.loads((claude / ".claude.json").read_text())
        own["history"] = [{"display": ', [ { \\" ' * 20, "number": i} for i in range(20_000)]
        (claude / ".claude.json").write_text(json.dumps(own))
        self.run_bounded()
        self.assertEqual(len(json.loads((claude / ".claude.json").read_text())["history"]), 20_000)

    def test_special_files_in_place_of_records(self):
        """No box can write these records, but an older claudebox or the user may have replaced them."""
        self.claude()
        instance = pathlib.Path(self.plan()["instance"])
        for name in ("instance.json", "settings-base.json"):
            for kind in ("fifo", "directory"):
                place = instance / name
                place.unlink() if place.is_file() else None
                if place.is_dir():
                    shutil.rmtree(place)
                os.mkfifo(place) if kind == "fifo" else place.mkdir()
                self.run_bounded()
                if place.is_dir():
                    shutil.rmtree(place)
                else:
                    place.unlink()


class Repository(Hostile):
    def test_the_git_configuration_runs_and_reads_nothing(self):
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
            self.run_bounded("--yes", "--exec", "true")
            self.run_bounded("--check")
        self.assertFalse(hit.exists())

    def test_invalid_git_files(self):
        for text in ("gitdir: .git\n", "gitdir: .\n", "gitdir: ..\n", "gitdir: loop\n", "gitdir: \n", "gitdir: " + "../" * 1300 + "x\n",
                     "gitdir: /proc/self/cwd\n", "gitdir: /dev/zero\n", f"gitdir: {self.home}/.ssh\n", "x" * 5000, "\0" * 100):
            (self.project / ".git").write_text(text)
            (self.project / "loop").unlink(missing_ok=True)
            (self.project / "loop").symlink_to("loop")
            self.run_bounded()

    def read_conversation(self, cwd):
        return self.box("cat ~/.claude/conversation 2>/dev/null; :", cwd=cwd)

    def write_conversation(self, cwd):
        self.box(f"echo {CANARY} >~/.claude/conversation", cwd=cwd)

    def test_a_git_file_for_an_inner_repository_does_not_open_its_state(self):
        inner = self.repository(self.project / "inner")
        self.git("clone", "-q", "--bare", inner, self.project / "bare.git")
        self.git("worktree", "add", "-q", self.home / "tree", "main", cwd=self.project / "bare.git")
        for cwd, pointer in ((inner, "inner/.git"), (self.home / "tree", "bare.git"), (self.home / "tree", "bare.git/worktrees/tree")):
            self.write_conversation(cwd)
            (self.project / ".git").write_text(f"gitdir: {pointer}\n")
            self.assertEqual(self.read_conversation(self.project), "", pointer)
            self.assertEqual(self.read_conversation(cwd), f"{CANARY}\n")
            (self.project / ".git").unlink()

    def test_a_box_that_removes_its_repository_does_not_get_the_enclosing_one(self):
        outer = self.repository(self.home / "outer")
        self.write_conversation(outer)
        inner = self.repository(outer / "vendor" / "inner")
        (inner / "sub").mkdir()
        for cwd, script in ((inner, "rm -rf .git"), (inner / "sub", "rm -f ../.git/HEAD")):
            if not (inner / ".git").exists():
                self.git("init", "-q", inner)
            self.assertEqual(self.read_conversation(cwd), "")
            self.box(script, cwd=cwd)
            done = self.claudebox("--yes", "--exec", "sh", "-c", f"cat ~/.claude/conversation {outer}/file.txt; ls {outer}/.git", cwd=cwd)
            self.assertEqual(done.stdout, "", script)
            self.assertRegex(done.stderr, "was not part of the repository .* at an earlier start")

    def test_an_enclosing_repository_of_another_user_is_not_used(self):
        """Any user can create /tmp/.git, and the owner of a repository decides which programs git runs in it."""
        if os.getuid():
            return  # only root can change the owner of a file
        outer = self.repository(self.home / "outer")
        (outer / "sub").mkdir()
        self.assertEqual(self.box("cat ../file.txt", cwd=outer / "sub"), "one\n")
        for foreign in (outer / ".git", outer):
            os.chown(foreign, 65534, 65534)
            done = self.claudebox("--yes", "--exec", "cat", outer / "file.txt", cwd=outer / "sub")
            self.assertEqual(done.stdout, "")
            self.assertIn("belongs to another user", done.stderr)
            os.chown(foreign, 0, 0)

    def test_tmp_as_a_repository_is_not_used(self):
        """With /tmp as a repository, the files and sockets of all users would be mounted with a project below /tmp."""
        host = OtherHost(self, {})
        script = 'git init -q /tmp && echo canary >/tmp/other && mkdir /tmp/p && cd /tmp/p && exec "$@"'
        done = host.run("sh", "-c", script, "sh", CLAUDEBOX, "--yes", "--exec", "cat", "/tmp/other")
        self.assertEqual(done.stdout, "")
        self.assertIn("git is not available", done.stderr)

    def test_a_subdirectory_shares_the_instance_of_its_repository(self):
        outer = self.repository(self.home / "outer")
        (outer / "sub").mkdir()
        self.write_conversation(outer)
        self.assertEqual(self.read_conversation(outer / "sub"), f"{CANARY}\n")

    def test_a_claude_directory_linked_into_the_project_is_refused(self):
        """With a link ~/.claude -> ~/dotfiles/claude, a box of ~/dotfiles could write the host's Claude settings."""
        (self.project / "claude").mkdir()
        (self.home / ".claude").symlink_to(self.project / "claude")
        self.assertIn("conversations", self.refused())
        self.assertIn("conversations", self.refused(cwd=self.project / "claude"))


class Writing(Hostile):
    """A failed write is reported, and the old file is unchanged."""

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

    def test_a_profile_that_a_box_can_write_is_refused(self):
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
            self.assertIn("leads to a file that a box can change", self.refused("--yes", "--profile", "p", "--exec", "true", cwd=cwd))
