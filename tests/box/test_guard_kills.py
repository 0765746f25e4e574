# SPDX-License-Identifier: MIT
"""SIGKILL of any set of processes of a box while its agent works and plants: after the next start only the agent's own work is in the project.

A short sample by default; `make stress` runs 100 rounds. KILLS_SEED repeats a sequence.
"""
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

from box.test_guard import GuardTest
from box.test_kills import family, identity
from lib.box import until
from lib.inet import name_of
from lib.stress import STRESS

AS_ROOT = True
SAMPLE = 6
ROUNDS = 100
DELAYS = (0.0, 0.5)
EXIT_GUARDED = 123

# Work is logged after it is done. What is logged must not be lost.
AGENT = r"""
import os, subprocess, sys
evil, mark = sys.argv[1:]
def git(*words):
    done = subprocess.run(["git", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return None if done.returncode else done.stdout.strip()
def plant(path, text, mode=0o644):
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
    except OSError:
        pass
def link(path):
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(evil, path)
    except OSError:
        pass
def log(word):
    with open("work/log", "a") as file:
        file.write(word + "\n")
os.makedirs("work", exist_ok=True)
for i in range(10000):
    name = f"work/{mark}-{i}"
    with open(name, "w") as file:
        file.write(name)
    log("file " + name)
    plant(f"work/d{i % 50}/.envrc", "evil")
    plant([".envrc", ".git/commondir", ".mcp.json", ".git/config.worktree", ".husky/pre-commit"][i % 5], "[core]\n\tfsmonitor = " + evil + "\n")
    link([".git/FETCH_HEAD", ".git/logs/refs/heads/x", ".git/modules", ".git/rr-cache/x/preimage", "work/n/.git/COMMIT_EDITMSG"][i % 5])
    if i % 3 == 0:
        nested = f"work/nested{i % 9}"
        git("init", "-q", nested)
        plant(nested + "/.git/hooks/pre-commit", "#!/bin/sh\n" + evil + "\n", 0o755)
        git("-C", nested, "config", "core.fsmonitor", evil)
    git("config", "core.fsmonitor", evil)
    git("config", f"branch.b{i}.remote", "origin")
    if i % 5 == 0:
        commit = git("-c", "core.fsmonitor=false", "commit-tree", "-m", name, "HEAD^{tree}")
        if commit and git("update-ref", f"refs/heads/{mark}-{i}", commit) is not None:
            log(f"commit {mark}-{i} {commit}")
"""


class Kills(GuardTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(int(os.environ.get("KILLS_SEED") or time.monotonic_ns()))
        (self.project / "agent.py").write_text(AGENT)
        (self.project / ".gitignore").write_text("agent.py\n")
        self.git("add", ".gitignore")
        self.git("commit", "-qm", "ignored")
        self.git("remote", "add", "origin", "https://example.com/x")
        self.claudebox("--yes", "--exec", "true")  # creates the state

    def work(self, mark):
        # A loop on one place would end the box; the places change in turn.
        return subprocess.Popen([self.under_test, "--yes", "--exec", "python3", "agent.py", self.evil, mark], cwd=self.project, env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def wait_for_end(self, seen, mark):
        """Waits until all processes have ended. Returns those that did not."""
        def running():
            return [pid for pid, start in seen.items() if start and identity(pid) == start]
        until(lambda: not running(), 20)
        return [(name_of(pid), pid) for pid in running()]

    def round(self, number):
        mark = f"m{number}"
        process = self.work(mark)
        if number % 4:
            until((self.project / f"work/{mark}-0").exists, 10)
        time.sleep(self.random.uniform(*DELAYS))
        pids = family(process.pid)
        seen = {pid: identity(pid) for pid in pids}
        victims = self.random.sample(pids, 1 if self.random.random() < 0.4 else self.random.randint(1, len(pids)))
        names = [name_of(pid) for pid in victims]
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(self.random.uniform(0, 0.05))
        process.kill()
        process.wait(10)
        seen |= {pid: identity(pid) for pid in family(process.pid)}
        problems = [f"still running: {left}" for left in self.wait_for_end(seen, mark)]
        done = self.claudebox("--yes", "--exec", "true")
        if done.returncode:
            problems.append(f"the next start fails: {done.stderr[-300:]}")
        problems += self.examine()
        return [f"round {number}, killed {names}: {problem}" for problem in problems]

    def examine(self):
        """Returns what is wrong in the project after the next start."""
        problems = []
        for line in self.git("status", "--porcelain", "--ignored", "--untracked-files=normal").splitlines():
            if line not in ("?? work/", "!! agent.py"):
                problems.append(f"left: {line}")
        for path in [*self.project.rglob(".envrc"), *self.project.rglob(".mcp.json"), *self.project.rglob("commondir"),
                     *self.project.rglob(".husky/*"), *(hook for hook in self.project.rglob(".git/hooks/*") if hook.suffix != ".sample" and hook.lstat().st_mode & 0o111 and (hook.parent.parent / "HEAD").exists())]:
            problems.append(f"left: {path.relative_to(self.project)}")
        problems += [f"link: {path.relative_to(self.project)}" for git in self.project.rglob(".git") for path in git.rglob("*") if path.is_symlink()]
        for config in [*self.project.rglob(".git/config"), *self.project.rglob("config.worktree")]:
            if "evil" in config.read_text():
                problems.append(f"executes: {config.relative_to(self.project)}")
        problems += [f"left: {path.name}" for path in self.home.glob(".claudebox/instances/*/git-config-*")]
        problems += [f"lock: {path}" for path in (self.project / ".git").glob("config*.lock")]
        mounts = pathlib.Path("/proc/self/mountinfo").read_text()
        problems += ["a mount is left"] if str(self.project) in mounts else []
        log = self.project / "work/log"
        for words in (line.split() for line in log.read_text().splitlines()) if log.exists() else ():
            if words[0] == "file" and (self.project / words[1]).read_text() != words[1]:
                problems.append(f"lost: {words[1]}")
            if words[0] == "commit" and self.git("rev-parse", words[1]).strip() != words[2]:
                problems.append(f"lost: {words}")
        log.unlink(missing_ok=True)
        if self.trigger(*[path.parent for path in self.project.rglob(".git")]):
            problems.append("the host executed a program of the box")
        return problems

    def test_only_the_work_of_the_agent_remains(self):
        rounds = ROUNDS if STRESS > 1 else SAMPLE
        failures = []
        for number in range(rounds):
            failures += self.round(number)
            if len(failures) > 20:
                break
        self.assertFalse(failures, "\n".join(failures))

    def test_the_end_of_the_guard_ends_the_box(self):
        process = self.start("echo ready; while :; do mkdir -p d; echo x >d/.envrc; done 2>/dev/null")
        self.assertEqual(process.stdout.readline(), "ready\n")
        guard = [pid for pid in family(process.pid) if name_of(pid) == "claudebox-guard"]
        self.assertEqual(len(guard), 1)
        os.kill(guard[0], signal.SIGKILL)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, EXIT_GUARDED, err)
        self.assertIn("the guard of the project has ended", err)
        self.assertFalse((self.project / "d/.envrc").exists(), "another guard searches at the end")

    def test_what_a_box_left_when_all_were_killed_is_moved_by_the_next_start(self):
        (self.project / ".npmrc").write_text("mine=1\n")
        process = self.start("echo ready; sleep 60")
        self.assertEqual(process.stdout.readline(), "ready\n")
        guard = [pid for pid in family(process.pid) if name_of(pid) == "claudebox-guard"][0]
        os.kill(process.pid, signal.SIGSTOP)
        os.kill(guard, signal.SIGKILL)
        seen = {pid: identity(pid) for pid in family(process.pid)}
        # As the box would: it has no guard any more.
        (self.project / ".envrc").write_text("evil\n")
        self.git("init", "-q", "sub")
        (self.project / "sub/.git/hooks/pre-commit").symlink_to(self.evil)
        (self.project / "sub/.git/COMMIT_EDITMSG").symlink_to("config")
        (self.project / ".git/logs/HEAD").unlink()
        (self.project / ".git/logs/HEAD").symlink_to("../hooks/post-commit")
        (self.project / ".npmrc").write_text("changed by the user\n")
        (self.project / ".git/hooks/post-commit").write_text("the user's\n")
        (self.project / ".git/hooks/post-commit").chmod(0o755)
        process.kill()
        process.wait()
        self.assertEqual(self.wait_for_end(seen, ""), [])
        done = self.claudebox("--yes", "--exec", "ls", "-A")
        self.assertNotIn(".envrc", done.stdout.split())
        self.assertIn("after a box that was killed", done.stderr)
        self.assertEqual(self.quarantine(), [".envrc", ".git/logs/HEAD", "sub/.git/COMMIT_EDITMSG", "sub/.git/hooks/pre-commit"])
        self.assertEqual((self.project / ".npmrc").read_text(), "changed by the user\n")
        self.assertTrue((self.project / ".git/hooks/post-commit").exists())


if __name__ == "__main__":
    unittest.main()
