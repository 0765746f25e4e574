# SPDX-License-Identifier: MIT
"""The launcher: which programs it runs, their environment, and what a caller, a repository or an
earlier box can influence."""
import ctypes
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess

from lib.box import CLAUDEBOX, GIVEN, BoxTest, tree, until, without_sessions
from lib.caller import LIBC, closing

AS_ROOT = True
CANARY = "canary-7731"
HELPERS = ("bwrap", "git", "nix", "pasta", "nft")


class LauncherTest(BoxTest):
    def program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def path(self, *directories):
        return {"PATH": ":".join([*map(str, directories), self.env["PATH"]])}


class Programs(LauncherTest):
    """Helper programs are taken only from directories that no other user and no box can write
    to."""

    def setUp(self):
        super().setUp()
        self.hit = self.home / "hit"

    def plant(self, directory, names=HELPERS):
        for name in names:
            self.program(directory / name, f"echo {name} >>{self.hit}; exit 1")
        return directory

    def assert_passed_over(self, directory, env=None, why="", cwd=None):
        """The program is not run, the box starts, and the audit and --check report it."""
        env = env or self.path(directory)
        done = self.claudebox("--yes", "--exec", "true", env=env, cwd=cwd)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rf"! '.*bwrap' on PATH is ignored: {why}")
        self.assertRegex(self.claudebox("--check", env=env, cwd=cwd).stdout, rf"(?m)^broken +path +'.*bwrap' on PATH is ignored: {why}")
        self.assertFalse(self.hit.exists(), self.hit.read_text() if self.hit.exists() else "")

    def test_relative_and_empty_PATH_entries_are_passed_over(self):
        self.plant(self.project)
        self.plant(self.project / "bin")
        for entry in ("", ".", "bin", "./bin", "../project"):
            self.assert_passed_over(None, {"PATH": f"{entry}:{self.env['PATH']}"}, "the PATH entry is relative")

    def test_programs_in_the_project_are_passed_over(self):
        self.plant(self.project / "bin")
        (self.home / "way").symlink_to(self.project)
        for entry in (self.project / "bin", f"{self.home}/./project//bin", self.home / "way" / "bin", f"{self.project}/bin/../bin"):
            self.assert_passed_over(entry, why="a box can change it")

    def test_a_symbolic_link_in_the_project_is_passed_over(self):
        """The file belongs to the user, but the box chooses it by changing the link."""
        self.plant(self.home / "tools")
        (self.project / "now").symlink_to(self.home / "tools")
        (self.home / "bin2").symlink_to(self.project / "now")
        self.assert_passed_over(self.home / "bin2", why="a box can change it")

    def test_programs_in_the_repository_of_the_project_are_passed_over(self):
        top = self.repository(self.home / "repo")
        (top / "sub").mkdir()
        self.assert_passed_over(self.plant(top / "tools"), cwd=top / "sub", why="a box can change it")

    def test_programs_in_the_git_directory_of_a_worktree_are_passed_over(self):
        main = self.repository(self.home / "main")
        self.git("worktree", "add", "-q", "-b", "topic", self.home / "linked", cwd=main)
        self.assert_passed_over(self.plant(main / ".git" / "bin"), cwd=self.home / "linked", why="a box can change it")

    def test_programs_in_other_known_projects_are_passed_over(self):
        """A box of that project can have planted them."""
        other = self.repository(self.home / "other")
        linked = self.home / "linked"
        self.git("worktree", "add", "-q", "-b", "topic", linked, cwd=other)
        self.plant(other / "bin")
        self.plant(linked / "bin")
        (self.home / "way").symlink_to(other / "bin")
        self.assertIn("this bwrap cannot", self.refused(env=self.path(other / "bin")))  # used: no box has started there
        self.box("rm .git", cwd=linked)
        for directory, root in ((other / "bin", "other"), (self.home / "way", "other"), (linked / "bin", "linked")):
            self.assert_passed_over(directory, why=f"a box of '~/{root}' can change it")

    def test_programs_in_the_state_directory_are_passed_over(self):
        self.box("mkdir ~/.claude/bin")
        instance = pathlib.Path(self.plan()["instance"])
        for directory in (instance / "claude" / "bin", self.home / ".claudebox" / "sign-in" / "bin"):
            self.assert_passed_over(self.plant(directory), why="a box can change it")

    def test_programs_in_world_writable_directories_are_passed_over(self):
        directory = self.plant(self.scratch() / "bin")
        for mode in (0o777, 0o1777):
            directory.chmod(mode)
            self.assert_passed_over(directory, why="other users can change it")
        directory.chmod(0o755)
        directory.parent.chmod(0o777)
        self.assert_passed_over(directory, why="other users can change it")

    def test_a_world_writable_program_is_passed_over(self):
        directory = self.plant(self.home / "tools", ["bwrap"])
        (directory / "bwrap").chmod(0o757)
        self.assert_passed_over(directory, why="other users can change it")

    def test_programs_of_another_user_are_passed_over(self):
        if os.getuid():
            return  # only root can change the owner of a file
        directory = self.plant(self.scratch() / "bin", ["bwrap"])
        os.chown(directory, 65534, 65534)
        self.assert_passed_over(directory, why="other users can change it")
        os.chown(directory, 0, 0)
        os.chown(directory / "bwrap", 65534, 65534)
        self.assert_passed_over(directory, why="other users can change it")

    def test_programs_in_the_users_own_directory_are_run(self):
        self.program(self.home / "tools" / "bwrap", f'# --ro-bind-fd --disable-userns\necho own >>{self.hit}; exec /usr/bin/bwrap "$@"')
        for directory in (self.home / "tools", self.scratch() / "tools"):
            if not directory.exists():
                shutil.copytree(self.home / "tools", directory)
            self.hit.unlink(missing_ok=True)
            done = self.claudebox("--yes", "--exec", "true", env=self.path(directory))
            self.assertEqual((done.returncode, self.hit.read_text()), (0, "own\n"), done.stderr)

    def test_without_a_trusted_bwrap_nothing_starts(self):
        errors = self.refused(env={"PATH": str(self.plant(self.project / "bin"))})
        self.assertIn("no trusted bwrap", errors)
        self.assertIn("a box can change it", errors)


class Claude(LauncherTest):
    """claude runs in the box, but its files are mounted from the host: a planted claude could name
    any file."""

    def setUp(self):
        super().setUp()
        self.private = self.home / "other" / "private.txt"
        self.private.parent.mkdir()
        self.private.write_text(CANARY)
        (self.home / "other" / "package.json").write_text("{}")

    def planted(self):
        yield f"#!/bin/sh\nexec /bin/cat {self.private}\n"
        yield f"#!/bin/sh\nexec {self.private} {self.private}\n"
        yield f"#!{self.private}\n"
        yield f"#!/usr/bin/env node\n// {self.private}\n"

    def test_a_claude_planted_on_PATH_is_passed_over(self):
        program = self.program(self.project / "node_modules" / ".bin" / "claude", "")
        (self.home / ".local" / "bin").mkdir(parents=True)
        shutil.copy(self.env.pop("CLAUDEBOX_CLAUDE"), self.home / ".local/bin/claude")
        for text in self.planted():
            program.write_text(text)
            done = self.claudebox("--yes", "-p", env=self.path(program.parent))
            self.assertEqual((done.returncode, done.stdout), (0, GIVEN + "<-p>\n"), done.stderr)
            self.assertIn("claude' on PATH is ignored: a box can change it", done.stderr)

    def test_a_claude_planted_in_another_known_project_is_passed_over(self):
        other = self.home / "q"
        other.mkdir()
        self.box("mkdir bin && printf '#!/bin/sh\necho hit\n' >bin/claude && chmod 755 bin/claude", cwd=other)
        (self.home / ".local" / "bin").mkdir(parents=True)
        shutil.copy(self.env.pop("CLAUDEBOX_CLAUDE"), self.home / ".local/bin/claude")
        done = self.claudebox("--yes", "-p", env=self.path(other / "bin"))
        self.assertEqual((done.returncode, done.stdout), (0, GIVEN + "<-p>\n"), done.stderr)
        self.assertIn("claude' on PATH is ignored: a box of '~/q' can change it", done.stderr)
        done = self.claudebox("--yes", "-p", env={"CLAUDEBOX_CLAUDE": str(other / "bin" / "claude")})
        self.assertIn("! a box can change a file of claude", done.stderr)

    def test_an_installed_claude_is_checked_like_one_on_PATH(self):
        """~/.local/bin/claude is found without PATH too."""
        other = self.home / "q"
        other.mkdir()
        self.box("printf '#!/bin/sh\necho hit\n' >claude && chmod 755 claude", cwd=other)
        installed = self.home / ".local/bin/claude"
        installed.parent.mkdir(parents=True)
        installed.symlink_to(other / "claude")
        del self.env["CLAUDEBOX_CLAUDE"]
        for path in ("/usr/bin:/bin", f"{installed.parent}:/usr/bin:/bin"):
            self.assertIn("a box of '~/q' can change it", self.refused("--yes", env={"PATH": path}))
        installed.unlink()
        self.program(installed, "echo hit").chmod(0o777)
        self.assertIn("other users can change it", self.refused("--yes", env={"PATH": "/usr/bin:/bin"}))

    def test_without_a_trusted_claude_nothing_starts(self):
        program = self.program(self.project / "claude", "echo hit")
        del self.env["CLAUDEBOX_CLAUDE"]
        errors = self.refused("--yes", env={"PATH": f"{program.parent}:/usr/bin:/bin"})
        self.assertIn("no trusted claude", errors)

    def test_a_claude_in_the_project_mounts_no_other_files(self):
        program = self.program(self.project / "claude", "")
        for text in self.planted():
            program.write_text(text)
            seen = self.plan(env={"CLAUDEBOX_CLAUDE": str(program)})
            self.assertFalse([mount for mount in seen["mounts"] if str(self.private.parent) in str(mount["host"])], text)
            done = self.claudebox("--yes", env={"CLAUDEBOX_CLAUDE": str(program)})
            self.assertNotIn(CANARY, done.stdout + done.stderr)
            self.assertIn("! a box can change a file of claude", done.stderr)

    def test_a_wrapper_that_runs_a_program_of_the_project_mounts_no_other_files(self):
        self.program(self.project / "inner", f"exec /bin/cat {self.private}")
        outer = self.program(self.home / "tools" / "claude", f'exec {self.project}/inner "$@"')
        seen = self.plan(env={"CLAUDEBOX_CLAUDE": str(outer)})
        self.assertFalse([mount for mount in seen["mounts"] if str(self.private.parent) in str(mount["host"])])


class Environment(LauncherTest):
    """Each helper gets a fixed set of variables and none of the caller's."""

    LISTS = {
        "bwrap": set(),
        "git": {"HOME", "PATH", "LC_ALL", "GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT"},
        "pasta": {"PATH", "HOME", "LC_ALL"},
        "nft": {"PATH", "HOME", "LC_ALL"},
        "nix": {"PATH", "HOME", "LC_ALL", "USER", "XDG_CONFIG_HOME"},
    }

    def test_helpers_get_no_variables_of_the_caller(self):
        seen = self.home / "seen"
        seen.mkdir()
        for name in HELPERS:
            real = shutil.which(name) or "/bin/false"
            self.program(self.home / "tools" / name,
                         f'# --ro-bind-fd --disable-userns\ncat /proc/$$/environ >{seen}/{name}\nexec {real} "$@"')
        hostile = {name: str(self.project / CANARY) for name in (
            "BASH_ENV", "ENV", "GIT_DIR", "GIT_CONFIG_GLOBAL", "GIT_EXEC_PATH", "GIT_SSH_COMMAND", "NODE_OPTIONS", "NIX_PATH", "NIX_CONFIG",
            "NIX_REMOTE", "NIX_CONF_DIR", "PYTHONPATH", "PYTHONSTARTUP", "PERL5OPT", "PERL5LIB", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
            "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SHELLOPTS", "IFS", "TMPDIR", "LC_ALL", "LC_MESSAGES", "LOCPATH", "LD_LIBRARY_PATH",
            "LD_AUDIT", "LD_DEBUG_OUTPUT", "GCONV_PATH", "MALLOC_TRACE", "PS4", "BASH_FUNC_cat%%")}
        (self.home / ".gitconfig").write_text('[includeIf "gitdir:/nowhere/"]\n\tpath = x\n')
        env = {**self.path(self.home / "tools"), **hostile}
        profiles = self.home / ".claudebox" / "profiles"
        profiles.mkdir(parents=True)
        (self.home / ".claudebox").chmod(0o700)
        (profiles / "p.json").write_text('{"packages": ["hello"]}')
        done = self.claudebox("--yes", "--exec", "true", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.claudebox("--dry-run", "--profile", "p", env=env)
        bwrap = (seen / "bwrap").read_bytes()
        self.claudebox("--check", env=env)
        self.assertEqual(bwrap.replace(b"PWD=/", b""), bwrap)
        for name, allowed in self.LISTS.items():
            content = bwrap if name == "bwrap" else (seen / name).read_bytes()
            self.assertNotIn(CANARY.encode(), content, name)
            self.assertLessEqual({entry.split(b"=")[0].decode() for entry in content.split(b"\0") if entry}, allowed, name)


class Caller(LauncherTest):
    """What claudebox inherits from its caller: descriptors, signals, limits, umask, arguments,
    variables."""

    def test_closed_descriptors(self):
        """The first file that is opened must not become stdout or stderr."""
        for closed in ((0,), (1,), (2,), (0, 1), (0, 1, 2)):
            out = self.project / "out"
            before = tree(self.home / ".claudebox") if (self.home / ".claudebox").exists() else None
            done = self.claudebox("--yes", "--exec", "sh", "-c", f"ls -l /proc/self/fd >{out}; echo output; echo err >&2",
                                  preexec_fn=closing(*closed))
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = out.read_text().splitlines()
            for fd in closed:
                if fd != 1:  # the script redirects it
                    self.assertTrue([line for line in lines if line.endswith(f" {fd} -> /dev/null")], lines)
            self.assertEqual(done.stdout, "" if 1 in closed else "output\n")
            if before:
                self.assertEqual(without_sessions(tree(self.home / ".claudebox")), without_sessions(before))

    def test_ignored_signals(self):
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            for command, status in ((("--yes", "--exec", "sh", "-c", "(exit 3); exit $?"), 3), (("--check",), 0)):
                done = self.claudebox(*command, timeout=30, preexec_fn=lambda number=number: signal.signal(number, signal.SIG_IGN))
                self.assertEqual(done.returncode, status, f"{number!r} {done.stdout} {done.stderr}")

    def test_a_low_limit_on_open_files_is_an_error(self):
        for number in (4, 10, 63):
            done = self.claudebox("--yes", "--exec", "true", preexec_fn=lambda n=number: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
            self.assertEqual(done.returncode, 125)
            self.assertIn("the limit on open files is too low", done.stderr)
            self.assertIn("hint: ", done.stderr)

    def test_a_small_stack_is_enough(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_STACK, (512 * 1024, 512 * 1024))
        self.assertEqual(self.claudebox("--yes", "--exec", "echo", "x", preexec_fn=limit).stdout, "x\n")

    def test_umask(self):
        for mask in (0, 0o777):
            shutil.rmtree(self.home / ".claudebox", ignore_errors=True)
            for _ in range(2):
                self.assertEqual(self.box("umask; cat ~/.claude/.claude.json >/dev/null && echo read", preexec_fn=lambda m=mask: os.umask(m)),
                                 f"{mask:04o}\nread\n")
            for path in (self.home / ".claudebox").rglob("*"):
                if not path.is_symlink():
                    self.assertFalse(path.stat().st_mode & 0o077, path)

    def test_a_umask_does_not_keep_the_guard_from_its_work(self):
        self.repository(self.project)
        for _ in range(2):
            self.box("git config branch.x.description text; git config core.fsmonitor /x; echo x >.envrc; chmod 700 .envrc; sleep 0.3",
                     preexec_fn=lambda: os.umask(0o777))
            self.assertFalse((self.project / ".envrc").exists())
        self.assertIn("description = text", (self.project / ".git/config").read_text())
        items = json.loads(self.claudebox("--quarantine=json").stdout)["items"]
        self.assertEqual(sorted({pathlib.Path(item["path"]).name for item in items}), [".envrc", "config"])

    def test_an_empty_argv_is_an_error(self):
        """execve with an empty argv."""
        child = os.fork()
        if child == 0:
            os.chdir(self.project)
            null = os.open("/dev/null", os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(null, fd)
            LIBC.execve(os.fsencode(CLAUDEBOX), (ctypes.c_char_p * 1)(None),
                        (ctypes.c_char_p * 2)(f"HOME={self.home}".encode(), None))
            os._exit(99)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 125)

    def test_a_large_environment(self):
        env = {f"V{i}": "x" * 100000 for i in range(15)}
        self.assertEqual(self.box("echo x; env | grep -c ^V", env=env), "x\n0\n")

    def test_a_wrong_PWD_is_ignored(self):
        other = self.home / "elsewhere"
        other.mkdir()
        self.assertEqual(self.box("pwd", env={"PWD": str(other)}), f"{self.project}\n")

    def test_a_setuid_or_setgid_claudebox_refuses_to_run(self):
        if os.getuid():
            return  # only root can change the owner
        program = self.scratch() / "claudebox"
        program.parent.chmod(0o755)
        for owner, mode in (((65534, 0), 0o4755), ((0, 65534), 0o2755)):
            shutil.copy(CLAUDEBOX, program)
            os.chown(program, *owner)
            program.chmod(mode)
            done = subprocess.run([program, "--version"], env=self.env, capture_output=True, text=True, check=False)
            # The sanitizer may exit before main.
            if b"__asan_init" in program.read_bytes() and done.returncode == 1:
                self.assertEqual(done.stdout, "")
                continue
            self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
            self.assertIn("claudebox must not be setuid, setgid or have file capabilities", done.stderr)

    def test_a_home_directory_of_another_user_is_refused(self):
        if os.getuid():
            return  # only root can change the owner
        other = self.scratch()
        os.chown(other, 65534, 65534)
        self.assertIn("belongs to another user", self.refused(env={"HOME": str(other)}))
        self.assertEqual(list(other.iterdir()), [])

    def test_words_that_look_like_options(self):
        project = self.home / "--ro-bind"
        project.mkdir()
        words = ["--bind", "-", "--", "--args", "two\nlines", " ", "x" * 4000, "\udcff\udcfe"]
        done = self.claudebox("--yes", "--exec", "sh", "-c", 'pwd; printf "<%s>" "$@"', "sh", *words, cwd=project)
        self.assertEqual(done.stdout, f"{project}\n" + "".join(f"<{word}>" for word in words))


class Memory(LauncherTest):
    def test_other_processes_of_the_user_cannot_read_its_memory(self):
        if os.getuid() == 0:
            return  # root can read the memory of every process
        env = {**self.env, "SOME_TOKEN": CANARY}
        box = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", "touch ready; sleep 20"], cwd=self.project, env=env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.assertTrue(until((self.project / "ready").exists, 20))
            for name in ("environ", "mem", "maps", "auxv"):
                with self.assertRaises(PermissionError, msg=name):
                    pathlib.Path(f"/proc/{box.pid}/{name}").read_bytes()
            with self.assertRaises(PermissionError):
                os.listdir(f"/proc/{box.pid}/fd")
            self.assertLess(LIBC.ptrace(0x4206, box.pid, 0, 0), 0)  # PTRACE_SEIZE
        finally:
            box.terminate()
            box.wait()
