# SPDX-License-Identifier: MIT
"""Every refusal has exit status 125, a message and a hint, starts nothing and leaves no file; --check reports the same."""
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import unittest

from lib.box import CLAUDEBOX, BoxTest, tree
from lib.other_host import OtherHost

SECRET_DIRECTORIES = (".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".kube", ".docker", ".config/gh", ".password-store",
                      ".config/sops", ".config/age", ".local/share/keyrings", ".mozilla", ".config/google-chrome", ".config/chromium",
                      ".local/share/fish", ".claude", ".claudebox")
SECRET_FILES = (".netrc", ".npmrc", ".pypirc", ".git-credentials", ".bash_history", ".zsh_history", ".python_history",
                ".claude/.credentials.json")


class Refusal(BoxTest):
    def refuse(self, reason, cwd=None, env=None, check=True):
        """Checks that a start is refused, that --check reports it, and that no file of the home directory changes."""
        before = tree(self.home)
        message = self.refused("--yes", "--exec", "true", cwd=cwd, env=env)
        self.assertRegex(message, reason)
        if check:
            done = self.claudebox("--check", cwd=cwd, env=env)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertRegex(done.stdout, r"(?m)^(broken|missing) ")
            self.assertRegex(done.stdout, r"(?m)^ +fix: ")
        self.assertEqual(tree(self.home), before)
        return message


class Project(Refusal):
    def test_home_and_the_directories_above_it(self):
        self.refuse("is .*home directory", cwd=self.home)
        place = self.home.parent
        while True:
            self.refuse("contains .*home directory", cwd=place, check=str(place) == "/")
            if str(place) == "/":
                break
            place = place.parent

    def test_the_git_directory_of_a_worktree(self):
        self.repository(self.project)
        for place in ("", "/hooks", "/objects/info"):
            message = self.refuse(f"project '{self.project}/.git{place}' (is|lies in) the git directory of '{self.project}'",
                                  cwd=self.project / f".git{place}")
            self.assertIn("hint: start claudebox in that directory", message)
        # A worktree in a git directory, a bare repository and its worktrees are projects.
        self.git("worktree", "add", "-q", self.project / ".git/wt", "-b", "wt")
        bare = self.home / "x.git"
        self.git("clone", "-q", "--bare", self.project, bare)
        self.git("worktree", "add", "-q", bare / "wt", "wt", cwd=bare)
        for place in (self.project / ".git/wt", bare, bare / "wt"):
            done = self.claudebox("--yes", "--exec", "git", "log", "-1", "--format=%s", cwd=place)
            self.assertEqual((done.returncode, done.stdout), (0, "first\n"), done.stderr)

    def test_home_through_a_link(self):
        link = self.scratch() / "link"
        link.symlink_to(self.home)
        self.refuse("home directory", cwd=link)
        self.refuse("home directory", cwd=self.home, env={"HOME": str(link)})

    def test_secret_directories_and_directories_in_them(self):
        for name in SECRET_DIRECTORIES:
            place = self.home / name / "sub" / "dir"
            place.mkdir(parents=True)
            (self.home / name).chmod(0o700)
            for cwd in (self.home / name, self.home / name / "sub", place):
                self.assertRegex(self.refused(cwd=cwd), r"is not allowed|(lies in|contains|would contain) '", name)

    def test_a_directory_that_contains_a_secret(self):
        for name in (".config", ".local", ".local/share"):
            (self.home / name).mkdir(exist_ok=True)
            self.refuse("contain", cwd=self.home / name)

    def test_a_secret_that_does_not_exist_yet(self):
        place = self.home / ".claude"
        place.mkdir(exist_ok=True)
        self.assertIn("/.claude' would contain '", self.refused(cwd=place))
        (place / ".credentials.json").write_text("{}")
        self.assertIn("/.claude' contains '", self.refused(cwd=place))
        # One that exists is named rather than one that may appear.
        place = self.home / ".config"
        (place / "gh").mkdir(parents=True)
        self.assertRegex(self.refused(cwd=place), r"/\.config' contains '\S*/\.config/gh'")

    def test_a_secret_that_is_a_link_into_the_project(self):
        """With a link ~/.ssh -> ~/dotfiles/ssh, the project ~/dotfiles contains the keys."""
        dotfiles = self.home / "dotfiles"
        (dotfiles / "ssh").mkdir(parents=True)
        (self.home / ".ssh").symlink_to(dotfiles / "ssh")
        (dotfiles / "netrc").write_text("x")
        (self.home / ".netrc").symlink_to("dotfiles/netrc")
        self.refuse("contains", cwd=dotfiles)
        self.refuse("contains|lies in", cwd=dotfiles / "ssh")
        (self.home / ".ssh").unlink()
        self.refuse("contains", cwd=dotfiles)

    def test_files_with_names_of_secrets_are_not_refused(self):
        """A file name alone is no reason to refuse: .npmrc in a project causes a warning."""
        for name in (".npmrc", ".env"):
            (self.project / name).write_text("_password=x")
        done = self.claudebox("--yes", "--exec", "true")
        self.assertEqual(done.returncode, 0)
        self.assertIn(".npmrc", done.stderr)

    def test_system_directories(self):
        for place in ("/tmp", "/var/tmp", "/dev", "/dev/shm", "/proc", "/sys", "/run", "/usr", "/usr/bin", "/usr/lib", "/etc", "/var", "/var/lib"):
            if os.path.isdir(place):
                self.refuse(r"'(/|~)", cwd=place, check=place == "/etc")

    def test_a_project_that_was_removed(self):
        script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"'
        for arguments in (("--yes", "--exec", "true"), ("--dry-run",)):
            done = subprocess.run(["sh", "-c", script, CLAUDEBOX, *arguments], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=20)
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn("project '.' does not exist", done.stderr)
            self.assertIn("hint: ", done.stderr)
        done = subprocess.run(["sh", "-c", script, CLAUDEBOX, "--check"], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertFalse((self.home / ".claudebox").exists())

    def test_a_project_that_cannot_be_read(self):
        place = self.home / "closed"
        place.mkdir()
        script = 'chmod "$0" . && exec "$@"'
        for mode in ("000", "300", "600"):
            done = subprocess.run(["sh", "-c", script, mode, CLAUDEBOX, "--yes", "--exec", "true"], cwd=place, env=self.env,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=20)
            place.chmod(0o700)
            self.assertEqual(done.returncode, 125, (mode, done.stderr))
            self.assertRegex(done.stderr, r"(?m)^hint: ")

    def test_no_home(self):
        """Without a valid HOME the home directory of the account is used, never '/'. A dry run, because it must not be changed."""
        message = self.refused("--dry-run", env={"HOME": "/"})
        self.assertIn("home", message)
        self.assertEqual(self.plan(env={"HOME": ""})["instance"].rsplit("/", 3)[0], pwd.getpwuid(os.getuid()).pw_dir)


class Commands(unittest.TestCase):
    def test_commands_of_hints_can_be_broken_between_words(self):
        """At 80 columns the words of a command have 57; a longer word would be broken inside."""
        golden = pathlib.Path(__file__).parent.parent / "golden"
        commands = [command for path in golden.rglob("error.txt") for command in re.findall(r"`([^`\n]+)`", path.read_text())]
        self.assertGreater(len(commands), 5)
        for command in commands:
            for word in re.findall(r"(?:'[^']*'|\S)+", command):
                self.assertLessEqual(len(word), 57, command)


class Tools(Refusal):
    def test_no_bwrap(self):
        self.assertIn("install", self.refuse("bwrap.*not installed", env={"PATH": "/nonexistent"}))

    def test_a_bwrap_that_cannot_be_executed(self):
        directory = self.scratch()
        for content, mode in (("garbage", 0o755), ("#!/nonexistent\n", 0o755), ("#!/bin/sh\necho no >&2; exit 3\n", 0o755)):
            (directory / "bwrap").write_text(f"{content}\n# --disable-userns\n")
            (directory / "bwrap").chmod(mode)
            message = self.refused(env={"PATH": f"{directory}:{self.env['PATH']}"})
            self.assertRegex(message, "cannot set up the sandbox|cannot execute")
            self.assertEqual(self.claudebox("--check", env={"PATH": f"{directory}:{self.env['PATH']}"}).returncode, 1)

    def test_a_bwrap_without_disable_userns(self):
        """bwrap before 0.8 can start only a box that may create user namespaces."""
        directory = self.scratch()
        old = directory / "bwrap"
        old.write_bytes(pathlib.Path(shutil.which("bwrap")).read_bytes().replace(b"disable-userns", b"xxxxxxx-userns"))
        old.chmod(0o755)
        path = {"PATH": f"{directory}:{self.env['PATH']}"}
        self.assertIn("--disable-userns", self.refused(env=path))
        checked = self.claudebox("--check", env=path)
        self.assertEqual(checked.returncode, 1)
        self.assertRegex(checked.stdout, r"broken +bwrap .*--disable-userns")
        self.profile(nested=True)
        self.assertEqual(self.claudebox("--yes", "--exec", "true", env=path).returncode, 0)

    def test_disabled_user_namespaces(self):
        script = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
        for arguments, status in ((("--yes", "--exec", "true"), 125), (("--check",), 1)):
            done = subprocess.run(["unshare", "-Ur", "sh", "-c", script, "sh", CLAUDEBOX, *arguments], cwd=self.project, env=self.env,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=30)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("max_user_namespaces", done.stderr + done.stdout)

    def test_no_claude(self):
        del self.env["CLAUDEBOX_CLAUDE"]
        before = tree(self.home)
        message = self.refused("--yes", env={"PATH": "/usr/bin:/bin"})
        self.assertRegex(message, "claude.*not installed")
        self.assertEqual(tree(self.home), before)
        done = self.claudebox("--check", env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^missing +claude ")

    def test_a_shell_needs_no_claude(self):
        self.assertEqual(self.box("echo up", env={"CLAUDEBOX_CLAUDE": "/nonexistent"}), "up\n")

    def test_a_claude_that_cannot_be_executed(self):
        plain = self.home / "plain"
        plain.write_text("#!/bin/sh\n")
        text = self.home / "text"
        text.write_text("just text\n")
        text.chmod(0o755)
        empty = self.home / "empty"
        empty.write_text("")
        empty.chmod(0o755)
        for path in (plain, text, empty, self.home, "/nonexistent/claude", self.home / "bin", "/dev/null"):
            message = self.refused("--yes", env={"CLAUDEBOX_CLAUDE": str(path)})
            self.assertIn("claude", message)
            done = self.claudebox("--check", env={"CLAUDEBOX_CLAUDE": str(path)})
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, r"(?m)^(broken|missing) +claude ")

    def test_no_shell(self):
        host = OtherHost(self, {})
        covered = [word for name in ("/usr/bin/bash", "/usr/local/bin/bash", "/usr/bin/zsh") if os.path.exists(name)
                   for word in ("--ro-bind", "/dev/null", name)]
        done = host.claudebox("--yes", "--exec", "true", options=covered)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertRegex(done.stderr, "bash")
        self.assertRegex(done.stderr, r"(?m)^hint: ")
        self.assertEqual(host.claudebox("--check", options=covered).returncode, 1)


class State(Refusal):
    def setUp(self):
        super().setUp()
        self.root = self.home / ".claudebox"

    def test_a_state_directory_that_is_a_file(self):
        self.root.write_text("x")
        self.refuse("not a directory")

    def test_a_state_directory_that_is_a_link(self):
        target = self.home / "elsewhere"
        target.mkdir(mode=0o700)
        for to in (target, "/nonexistent", "/tmp"):
            self.root.unlink(missing_ok=True)
            self.root.symlink_to(to)
            self.refuse("symbolic link")
        self.assertEqual(list(target.iterdir()), [])

    def test_a_state_directory_open_to_other_users(self):
        self.root.mkdir()
        for mode in (0o755, 0o777, 0o750, 0o701, 0o1777):
            self.root.chmod(mode)
            self.assertIn("chmod 700", self.refuse(f"mode {mode & 0o777:03o}", check=mode == 0o755))

    def test_a_state_directory_of_another_user(self):
        self.root.mkdir(mode=0o700)
        host = OtherHost(self, {})
        foreign = ("--ro-bind", "/usr/share", str(self.root))
        done = host.claudebox("--yes", "--exec", "true", options=foreign)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("another user", done.stderr)
        self.assertEqual(host.claudebox("--check", options=foreign).returncode, 1)

    def test_a_state_directory_that_is_a_fifo(self):
        os.mkfifo(self.root)
        self.refuse("not a directory")

    def test_read_only_home(self):
        host = OtherHost(self, {})
        read_only = ("--ro-bind", str(self.home), str(self.home))
        done = host.claudebox("--yes", "--exec", "true", options=read_only)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertRegex(done.stderr, "Read-only file system")
        self.assertRegex(done.stderr, r"(?m)^hint: ")
        self.assertEqual(host.claudebox("--check", options=read_only).returncode, 1)

    def test_a_home_that_cannot_be_written(self):
        self.home.chmod(0o500)
        self.addCleanup(self.home.chmod, 0o700)
        self.refuse("Permission denied")

    def run_in_small_home(self, script):
        """Starts claudebox with a home directory of 64 kB, which the script fills before."""
        host = OtherHost(self, {})
        small = ("--size", "65536", "--tmpfs", str(self.home), "--dir", str(self.project))
        return host.run("sh", "-c", script + '; "$@"; status=$?; cd; find . -name ".claudebox-*"; exit $status', "sh", CLAUDEBOX, "--yes",
                        "--exec", "true", options=small)

    def test_a_full_disk(self):
        done = self.run_in_small_home("cat /dev/zero >../fill 2>/dev/null")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("No space left", done.stderr)
        self.assertRegex(done.stderr, r"(?m)^hint: .*full")
        self.assertEqual(done.stdout, "")

    def test_a_full_disk_leaves_existing_files_unchanged(self):
        """A file that cannot be replaced is unchanged."""
        done = self.run_in_small_home('mkdir -p -m 700 ~/.claudebox; "$@" 2>/dev/null; f=$(echo ~/.claudebox/instances/*/claude/.claude.json); '
                         'echo \'{"old": 1}\' >$f; cat /dev/zero >../fill 2>/dev/null; "$@" >/dev/null 2>&1; cat $f >&2')
        self.assertIn('{"old": 1}', done.stderr)

    def test_a_failing_bwrap_leaves_no_temporary_file(self):
        directory = self.scratch()
        (directory / "bwrap").write_text("#!/bin/sh\nexit 1\n")
        (directory / "bwrap").chmod(0o755)
        self.refused(env={"PATH": f"{directory}:{self.env['PATH']}"})
        self.assertEqual([str(p) for p in self.home.rglob(".claudebox-*")], [])


class Usage(Refusal):
    def test_a_refusal_never_asks_and_never_runs_claude(self):
        hit = self.home / "hit"
        self.fake_claude(f"touch {hit}")
        self.refused("--yes", cwd=self.home)
        self.refused("--yes", "--report-fd", "77")
        self.assertFalse(pathlib.Path(hit).exists())


if __name__ == "__main__":
    unittest.main()
