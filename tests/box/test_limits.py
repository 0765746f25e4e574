# SPDX-License-Identifier: MIT
"""Limits by a cgroup that claudebox creates: they are in effect, the box cannot change them, and
the cgroup is removed."""
import os
import pathlib
import re
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, until
from lib.broken import Broken
from lib.limits import FORKS, HOG, LimitsTest

AS_ROOT = True
NEEDS_CGROUP = True

LIMITS_ATTACKS = ("limits-in-force", "limits-lift", "limits-leave", "limits-below")
TIMEOUT = 30  # in seconds; user-mode Linux is slow, and other tests may run
PARENT = pathlib.Path(os.environ["CGROUP_TEST"])


def left():
    return sorted(path.name for path in PARENT.iterdir() if path.is_dir() and path.name != "leaf")


class Limits(LimitsTest):
    def setUp(self):
        super().setUp()
        if left():  # by a test that failed
            self.claudebox("--yes", "--exec", "true")

    def tearDown(self):
        self.assertTrue(until(lambda: left() == [], TIMEOUT), left())

    def values(self, process, *names):
        return [(PARENT / f"claudebox-{process.pid}" / name).read_text().strip() for name in names]

    def test_limits_are_set_before_the_agent_runs(self):
        self.profile({"memory": "200M", "pids": 100, "cpu": "150%"})
        process = self.start("echo ready; read -r _; true")
        self.assertEqual(self.values(process, "memory.max", "memory.swap.max", "pids.max", "cpu.max", "memory.oom.group", "cgroup.procs"),
                         [str(200 << 20), "0", "100", "150000 100000", "0", ""])
        inner = PARENT / f"claudebox-{process.pid}" / "box"
        members = (inner / "cgroup.procs").read_text().split()
        self.assertEqual(len(members), 3, members)  # bwrap, init, the shell
        self.assertNotIn(str(process.pid), members)
        process.stdin.close()
        self.assertEqual(process.wait(TIMEOUT), 0)
        self.assertEqual(left(), [])

    def test_processes_are_limited_by_default(self):
        process = self.start("echo ready; read -r _; true")
        self.assertEqual(self.values(process, "pids.max", "memory.max", "cpu.max"), ["8192", "max", "max 100000"])
        self.kill(process)
        self.claudebox("--yes", "--exec", "true")

    def test_the_instructions_name_the_limits(self):
        self.profile({"memory": "96M", "pids": 40, "cpu": "150%"})
        text = self.box("cat /etc/claude-code/CLAUDE.md")
        self.assertIn("- This box has at most 96M of memory, without swap, 40 processes and threads, 150% of one processor's time. At the limit of processes, "
                      "no further one can be started. A process that uses too much memory is killed; files in `/tmp` count as memory. Do not retry", text)
        self.profile({"memory": "96M"}, home="none")
        self.assertIn("files in `/tmp` and in the home directory count as memory.", self.box("cat /etc/claude-code/CLAUDE.md"))

    def test_limits_are_in_effect_inside_the_box(self):
        self.assert_holds()

    def test_files_in_memory_count_as_memory(self):
        self.profile({"memory": "64M"})
        self.assertEqual(self.box("head -c 200M /dev/zero >/tmp/x; echo $?; df --output=size -B1 /tmp | tail -n 1 | tr -d ' '"), f"1\n{32 << 20}\n")
        # The files stay when the process that wrote them is killed, so the kernel kills the whole
        # box, but not claudebox.
        done = self.claudebox("--yes", "--exec", "sh", "-c", "for i in /tmp /var/tmp ~ /dev/shm; do head -c 200M /dev/zero >$i/x; done")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(left(), [])
        self.assertEqual(self.box("head -c 20M /dev/zero >/tmp/x; echo $?"), "0\n")

    def test_processor_time_is_limited(self):
        script = "import time; end = time.monotonic() + 1\nwhile time.monotonic() < end: pass\nprint('done')"
        for share, throttled in (("20%", True), ("1000%", False)):
            self.profile({"cpu": share})
            process = self.start('python3 -c "$1"; read -r _; true', script)
            count = int(re.search(r"nr_throttled (\d+)", self.values(process, "cpu.stat")[0])[1])
            self.assertEqual(count > 0, throttled)
            process.stdin.close()
            process.wait(TIMEOUT)

    def test_two_boxes_have_separate_limits(self):
        self.profile({"pids": 40, "memory": "96M"})
        first = self.start('python3 -c "$1" 200 >/dev/null & python3 -c "$2" 40 & echo full; read -r _; true', FORKS.replace("for pid in children", "signal.pause()\nfor pid in children"), HOG)
        self.assertTrue(until(lambda: int(self.values(first, "pids.current")[0]) == 40, TIMEOUT))
        self.assertEqual(self.box('python3 -c "$1" 20; python3 -c "$2" 40', FORKS, HOG), "20\nhad it\n")
        # The start of another box does not remove it.
        self.assertEqual(left(), [f"claudebox-{first.pid}"])
        self.assertIsNone(first.poll())
        self.kill(first)
        self.assertTrue(until(lambda: "populated 0" in self.values(first, "cgroup.events")[0], TIMEOUT))
        self.claudebox("--yes", "--exec", "true")

    def test_the_cgroup_of_a_killed_claudebox_is_removed_by_the_next_start(self):
        self.profile({"pids": 100})
        process = self.start("echo ready; sleep 60")
        self.kill(process)
        self.assertTrue(until(lambda: "populated 0" in self.values(process, "cgroup.events")[0], TIMEOUT))
        self.assertEqual(left(), [f"claudebox-{process.pid}"])
        self.assertEqual(self.claudebox("--yes", "--exec", "true").returncode, 0)
        self.assertEqual(left(), [])

    def test_remaining_processes_are_killed_and_the_cgroup_removed(self):
        self.profile({"pids": 100})
        started = time.monotonic()
        self.box("for i in 1 2 3 4 5; do setsid sleep 60 & done")
        self.assertEqual(left(), [])
        self.assertLess(time.monotonic() - started, TIMEOUT)

    def test_a_box_that_does_not_start_leaves_nothing(self):
        self.profile({"pids": 100})
        directory = self.scratch()
        (directory / "bwrap").write_text("#!/nonexistent\n--disable-userns --ro-bind-fd\n")
        (directory / "bwrap").chmod(0o755)
        errors = self.refused(env={"PATH": str(directory)})
        self.assertIn("cannot execute", errors)
        self.assertEqual(left(), [])
        (directory / "bwrap").write_text("#!/bin/sh\n# --disable-userns --ro-bind-fd\nexit 3\n")
        self.assertIn("bwrap exited with status 3", self.refused(env={"PATH": str(directory)}))

    def test_limits_work_in_tier_none(self):
        self.profile({"pids": 40}, network="none")
        self.assertRegex(self.box('python3 -c "$1" 200', FORKS), r"^refused 11\n[23]\d\n$")

    def test_requested_limits_that_cannot_be_set_are_an_error(self):
        control = PARENT / "cgroup.subtree_control"
        control.write_text("-cpu")
        self.addCleanup(control.write_text, "+cpu")
        self.profile({"cpu": "100%", "pids": 100})
        errors = self.refused()
        self.assertIn(f"cannot limit the box: the cgroup '{PARENT}' does not delegate all controllers (cgroup.subtree_control), and ", errors)
        self.refused("--dry-run")
        done = self.claudebox("--check")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^missing  limits     cannot limit the box: ")
        self.profile({"pids": 100})
        self.assertEqual(self.claudebox("--yes", "--exec", "true").returncode, 0)

    def run_behind(self, before):
        return subprocess.run([*before, CLAUDEBOX, "--yes", "--exec", "echo", "works"], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    def assert_only_requested_limits_are_an_error(self, problem, *before):
        self.profile({})
        done = self.run_behind(before)
        self.assertEqual((done.returncode, done.stdout), (0, "works\n"), done.stderr)
        self.assertRegex(done.stderr, f"(?m)^claudebox: running without a process limit: {problem}")
        self.profile({"pids": 100})
        done = self.run_behind(before)
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertEqual(left(), [])

    def test_a_cgroup_that_cannot_be_created(self):
        limit = PARENT / "cgroup.max.descendants"
        limit.write_text("1")
        self.addCleanup(limit.write_text, "max")
        self.assert_only_requested_limits_are_an_error("cannot limit the box: cannot create a cgroup in '")

    def test_a_process_that_cannot_be_created_in_the_cgroup(self):
        self.assert_only_requested_limits_are_an_error("cannot start a process in a cgroup: ", "strace", "-o", "/dev/null", "-e", "inject=clone3:error=ENOSYS")

    def stand_in(self, script):
        """Creates a bwrap that runs a script before the real bwrap."""
        directory = self.scratch()
        (directory / "bwrap").write_text(f'#!/bin/sh\n# --disable-userns --ro-bind-fd\n{script}\nexec /usr/bin/bwrap "$@"\n')
        (directory / "bwrap").chmod(0o755)
        return {"PATH": f"{directory}:{self.env['PATH']}"}

    def test_limits_that_are_not_in_effect_stop_the_start(self):
        """The limits of the box's cgroup are read back before the agent starts."""
        for script, problem in ((f"echo 0 >{PARENT}/leaf/cgroup.procs", "it is not in the cgroup with the limits"),
                                (f"echo max >{PARENT}/claudebox-$PPID/pids.max", "'pids.max' is 'max', not '100'"),
                                (f"echo 101 >{PARENT}/claudebox-$PPID/pids.max", "'pids.max' is '101', not '100'"),
                                (f"echo '60000 100000' >{PARENT}/claudebox-$PPID/cpu.max", "'cpu.max' is '60000 100000', not '50000 100000'"),
                                (f"echo max >{PARENT}/claudebox-$PPID/cgroup.max.descendants", "'cgroup.max.descendants' is 'max', not '1'")):
            env = self.stand_in(script)
            self.profile({"pids": 100, "memory": "64M", "cpu": "50%"})
            errors = self.refused("--yes", "--exec", "touch", "started", env=env)
            self.assertIn(f"claudebox: cannot limit the box: {problem}\nhint: run claudebox --check to see which limits are available\n", errors)
            self.assertFalse((self.project / "started").exists())
            self.assertEqual(left(), [])
        # A lower value is accepted, and any value if no limits were requested.
        self.assertEqual(self.claudebox("--yes", "--exec", "true", env=self.stand_in(f"echo 90 >{PARENT}/claudebox-$PPID/pids.max")).returncode, 0)
        self.profile({})
        self.assertEqual(self.claudebox("--yes", "--exec", "true", env=env).returncode, 0)

    def prove(self, breakage, *options):
        done, proof = Broken(self, breakage).prove(*options, timeout=2 * TIMEOUT)
        self.assertIsNotNone(proof, done.stderr)
        self.assertTrue(proof["complete"], done.stderr)
        return {row["name"]: (row["verdict"], row["why"]) for row in proof["attacks"] if row["group"] == "limits"}

    def test_prove_attacks_the_limits(self):
        blocked = {name: "blocked" for name in LIMITS_ATTACKS}
        self.profile({"pids": 100, "memory": "64M"})
        found = self.prove("")
        self.assertEqual({name: verdict for name, (verdict, _) in found.items()}, blocked)
        self.assertEqual(found["limits-in-force"][1], f"memory.max {64 << 20}, pids.max 100, cgroup.max.descendants 1")
        # With the whole cgroup tree writable in the box, only the values themselves are still
        # correct.
        found = self.prove("add('--bind', '/sys/fs/cgroup', '/sys/fs/cgroup')")
        self.assertEqual({name: verdict for name, (verdict, _) in found.items()}, {**dict.fromkeys(blocked, "leaked"), "limits-in-force": "blocked"})
        # A read-only tree does not let the box change the limits.
        self.assertEqual({name: verdict for name, (verdict, _) in self.prove("add('--ro-bind', '/sys/fs/cgroup', '/sys/fs/cgroup')").items()}, blocked)

    def test_prove_attacks_the_limits_with_user_namespaces(self):
        """The box can then mount the tree below the limits; not available to root."""
        self.profile({"pids": 100}, nested=os.getuid() != 0)
        found = self.prove("")
        self.assertEqual({name: verdict for name, (verdict, _) in found.items()}, {name: "blocked" for name in LIMITS_ATTACKS})
        self.assertEqual(found["limits-below"][1], "EAGAIN" if os.getuid() else "EPERM")

    def test_prove_attacks_the_default_limit(self):
        found = self.prove("")
        self.assertEqual({name: verdict for name, (verdict, _) in found.items()},
                         {**{name: "blocked" for name in LIMITS_ATTACKS}, "limits-in-force": "skipped"})
        self.assertEqual(self.prove("add('--bind', '/sys/fs/cgroup', '/sys/fs/cgroup')")["limits-lift"][0], "leaked")

    def test_mounting_the_cgroup_tree_is_refused(self):
        self.profile({"pids": 100})
        self.assertIn("mount '/sys' shows processes, devices or settings of the host", self.refused("--mount-rw", "/sys:/mnt", "--exec", "true"))
        for path in ("/sys/fs/cgroup", PARENT):
            errors = self.refused("--mount-rw", f"{path}:/mnt", "--yes", "--exec", "true")
            self.assertIn(f"mount '{path}' allows the box to remove its own limits", errors)
        shown = self.claudebox("--mount-ro", f"{PARENT}:/mnt", "--yes", "--exec", "sh", "-c", "echo max >/mnt/claudebox-*/pids.max || cat /mnt/claudebox-*/pids.max")
        self.assertEqual(shown.stdout, "100\n", shown.stderr)
        self.profile({})
        self.assertEqual(self.claudebox("--mount-rw", f"{PARENT}:/mnt", "--yes", "--exec", "true").returncode, 0)

    def test_limits_are_shown(self):
        self.profile({"memory": "1.5G", "cpu": "50%"})
        audit = self.claudebox("--yes", "--audit=full", "--exec", "true").stderr
        self.assertIn(f"Limits:  by a cgroup in {PARENT}\n  [+] 1536M of memory, without swap (profile limited)\n"
                      "  [~] 8192 processes and threads\n  [+] 50% of one processor's time (profile limited)\n", audit)
        self.assertEqual(self.plan("--exec", "true")["limits"], {
            "by": "cgroup", "memory": {"value": 1536 << 20, "origin": "profile limited"}, "pids": {"value": 8192, "origin": None},
            "cpu": {"value": 50, "origin": "profile limited"}})
        self.assertIn(f" own, one level below one in {PARENT} with:\n#   memory.max {1536 << 20}\n",
                      self.claudebox("--dry-run", "--exec", "true").stdout.replace("\n# one in", " one in"))
        self.assertIn("- This box has at most 1536M of memory, without swap, 8192 processes and threads, 50% of one processor's time.",
                      self.box("cat /etc/claude-code/SANDBOX.md"))
        self.assertIn(f"ok       limits     memory, pids, cpu: by a cgroup in {PARENT}", self.claudebox("--check").stdout)


if __name__ == "__main__":
    unittest.main()
