# SPDX-License-Identifier: MIT
"""Limits by a cgroup that claudebox makes: they hold, the box can't lift them, and nothing is left of them."""
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
PATIENCE = 30  # a kernel in a program is slow, and may not be alone
PARENT = pathlib.Path(os.environ["CGROUP_TEST"])


def left():
    return sorted(path.name for path in PARENT.iterdir() if path.is_dir() and path.name != "leaf")


class Limits(LimitsTest):
    def setUp(self):
        super().setUp()
        if left():  # of a test that failed
            self.claudebox("--yes", "--exec", "true")

    def tearDown(self):
        self.assertTrue(until(lambda: left() == [], PATIENCE), left())

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
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(left(), [])

    def test_processes_are_limited_when_nobody_asked(self):
        process = self.start("echo ready; read -r _; true")
        self.assertEqual(self.values(process, "pids.max", "memory.max", "cpu.max"), ["8192", "max", "max 100000"])
        self.kill(process)
        self.claudebox("--yes", "--exec", "true")

    def test_they_hold_from_inside(self):
        self.assert_holds()

    def test_files_in_memory_count(self):
        self.profile({"memory": "64M"})
        self.assertEqual(self.box("head -c 200M /dev/zero >/tmp/x; echo $?; df --output=size -B1 /tmp | tail -n 1 | tr -d ' '"), f"1\n{32 << 20}\n")
        # They stay when their process is killed, so the whole box goes; claudebox tells it and is unharmed.
        done = self.claudebox("--yes", "--exec", "sh", "-c", "for i in /tmp /var/tmp ~ /dev/shm; do head -c 200M /dev/zero >$i/x; done")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(left(), [])
        self.assertEqual(self.box("head -c 20M /dev/zero >/tmp/x; echo $?"), "0\n")

    def test_processor_time(self):
        script = "import time; end = time.monotonic() + 1\nwhile time.monotonic() < end: pass\nprint('done')"
        for share, throttled in (("20%", True), ("1000%", False)):
            self.profile({"cpu": share})
            process = self.start('python3 -c "$1"; read -r _; true', script)
            count = int(re.search(r"nr_throttled (\d+)", self.values(process, "cpu.stat")[0])[1])
            self.assertEqual(count > 0, throttled)
            process.stdin.close()
            process.wait(PATIENCE)

    def test_two_boxes_have_limits_of_their_own(self):
        self.profile({"pids": 40, "memory": "96M"})
        first = self.start('python3 -c "$1" 200 >/dev/null & python3 -c "$2" 40 & echo full; read -r _; true', FORKS.replace("for pid in children", "signal.pause()\nfor pid in children"), HOG)
        self.assertTrue(until(lambda: int(self.values(first, "pids.current")[0]) == 40, PATIENCE))
        self.assertEqual(self.box('python3 -c "$1" 20; python3 -c "$2" 40', FORKS, HOG), "20\nhad it\n")
        self.assertEqual(left(), [f"claudebox-{first.pid}"])  # another start leaves it alone
        self.assertIsNone(first.poll())
        self.kill(first)
        self.assertTrue(until(lambda: "populated 0" in self.values(first, "cgroup.events")[0], PATIENCE))
        self.claudebox("--yes", "--exec", "true")

    def test_what_a_killed_claudebox_leaves_is_removed_by_the_next(self):
        self.profile({"pids": 100})
        process = self.start("echo ready; sleep 60")
        self.kill(process)
        self.assertTrue(until(lambda: "populated 0" in self.values(process, "cgroup.events")[0], PATIENCE))
        self.assertEqual(left(), [f"claudebox-{process.pid}"])
        self.assertEqual(self.claudebox("--yes", "--exec", "true").returncode, 0)
        self.assertEqual(left(), [])

    def test_a_box_that_leaves_processes_behind(self):
        self.profile({"pids": 100})
        started = time.monotonic()
        self.box("for i in 1 2 3 4 5; do setsid sleep 60 & done")
        self.assertEqual(left(), [])
        self.assertLess(time.monotonic() - started, PATIENCE)

    def test_a_box_that_does_not_start_leaves_nothing(self):
        self.profile({"pids": 100})
        directory = self.scratch()
        (directory / "bwrap").write_text("#!/nonexistent\n--disable-userns --ro-bind-fd\n")
        (directory / "bwrap").chmod(0o755)
        said = self.refused(env={"PATH": str(directory)})
        self.assertIn("cannot execute", said)
        self.assertEqual(left(), [])
        (directory / "bwrap").write_text("#!/bin/sh\n# --disable-userns --ro-bind-fd\nexit 3\n")
        self.assertIn("bwrap ended with 3", self.refused(env={"PATH": str(directory)}))

    def test_they_go_with_a_network_of_its_own(self):
        self.profile({"pids": 40}, network="none")
        self.assertRegex(self.box('python3 -c "$1" 200', FORKS), r"^refused 11\n[23]\d\n$")

    def test_asked_for_and_impossible(self):
        control = PARENT / "cgroup.subtree_control"
        control.write_text("-cpu")
        self.addCleanup(control.write_text, "+cpu")
        self.profile({"cpu": "100%", "pids": 100})
        said = self.refused()
        self.assertIn(f"cannot limit the box: the cgroup '{PARENT}' does not delegate all controllers (cgroup.subtree_control), and ", said)
        self.refused("--dry-run")
        done = self.claudebox("--check")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^missing  limits    cannot limit the box: ")
        self.profile({"pids": 100})
        self.assertEqual(self.claudebox("--yes", "--exec", "true").returncode, 0)

    def run_behind(self, before):
        return subprocess.run([*before, CLAUDEBOX, "--yes", "--exec", "echo", "works"], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False)

    def assert_only_what_was_asked_for_stops(self, problem, *before):
        self.profile({})
        done = self.run_behind(before)
        self.assertEqual((done.returncode, done.stdout), (0, "works\n"), done.stderr)
        self.assertRegex(done.stderr, f"(?m)^claudebox: without a limit of processes: {problem}")
        self.profile({"pids": 100})
        done = self.run_behind(before)
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertEqual(left(), [])

    def test_no_cgroup_can_be_made(self):
        limit = PARENT / "cgroup.max.descendants"
        limit.write_text("1")
        self.addCleanup(limit.write_text, "max")
        self.assert_only_what_was_asked_for_stops("cannot limit the box: cannot make a cgroup in '")

    def test_no_process_can_be_born_there(self):
        self.assert_only_what_was_asked_for_stops("cannot start one in a cgroup: ", "strace", "-o", "/dev/null", "-e", "inject=clone3:error=ENOSYS")

    def stand_in(self, script):
        """A bwrap that does something before it is one."""
        directory = self.scratch()
        (directory / "bwrap").write_text(f'#!/bin/sh\n# --disable-userns --ro-bind-fd\n{script}\nexec /usr/bin/bwrap "$@"\n')
        (directory / "bwrap").chmod(0o755)
        return {"PATH": f"{directory}:{self.env['PATH']}"}

    def test_what_is_not_in_force_starts_nothing(self):
        """They are read back, where the box is, before the agent runs."""
        for script, problem in ((f"echo 0 >{PARENT}/leaf/cgroup.procs", "it is not in the cgroup that has the limits"),
                                (f"echo max >{PARENT}/claudebox-$PPID/pids.max", "'pids.max' is 'max', not '100'"),
                                (f"echo 101 >{PARENT}/claudebox-$PPID/pids.max", "'pids.max' is '101', not '100'"),
                                (f"echo '60000 100000' >{PARENT}/claudebox-$PPID/cpu.max", "'cpu.max' is '60000 100000', not '50000 100000'"),
                                (f"echo max >{PARENT}/claudebox-$PPID/cgroup.max.descendants", "'cgroup.max.descendants' is 'max', not '1'")):
            env = self.stand_in(script)
            self.profile({"pids": 100, "memory": "64M", "cpu": "50%"})
            said = self.refused("--yes", "--exec", "touch", "started", env=env)
            self.assertIn(f"claudebox: cannot limit the box: {problem}\nhint: claudebox --check tells which limits there are\n", said)
            self.assertFalse((self.project / "started").exists())
            self.assertEqual(left(), [])
        # Less is fine, and so is anything when nobody asked.
        self.assertEqual(self.claudebox("--yes", "--exec", "true", env=self.stand_in(f"echo 90 >{PARENT}/claudebox-$PPID/pids.max")).returncode, 0)
        self.profile({})
        self.assertEqual(self.claudebox("--yes", "--exec", "true", env=env).returncode, 0)

    def prove(self, breakage, *options):
        done, proof = Broken(self, breakage).prove(*options, timeout=2 * PATIENCE)
        self.assertIsNotNone(proof, done.stderr)
        self.assertTrue(proof["complete"], done.stderr)
        return {row["name"]: (row["verdict"], row["why"]) for row in proof["attacks"] if row["group"] == "limits"}

    def test_prove_attacks_them(self):
        blocked = {name: "blocked" for name in LIMITS_ATTACKS}
        self.profile({"pids": 100, "memory": "64M"})
        found = self.prove("")
        self.assertEqual({name: verdict for name, (verdict, _) in found.items()}, blocked)
        self.assertEqual(found["limits-in-force"][1], f"memory.max {64 << 20}, pids.max 100, cgroup.max.descendants 1")
        # With the whole tree in the box nothing but the limits themselves is left.
        found = self.prove("add('--bind', '/sys/fs/cgroup', '/sys/fs/cgroup')")
        self.assertEqual({name: verdict for name, (verdict, _) in found.items()}, {**dict.fromkeys(blocked, "leaked"), "limits-in-force": "blocked"})
        # To see it is not to change it.
        self.assertEqual({name: verdict for name, (verdict, _) in self.prove("add('--ro-bind', '/sys/fs/cgroup', '/sys/fs/cgroup')").items()}, blocked)

    def test_prove_attacks_them_from_namespaces_of_the_boxs_own(self):
        """There is a tree to see then, the level below the limits; root can't have it."""
        self.profile({"pids": 100}, nested=os.getuid() != 0)
        found = self.prove("")
        self.assertEqual({name: verdict for name, (verdict, _) in found.items()}, {name: "blocked" for name in LIMITS_ATTACKS})
        self.assertEqual(found["limits-below"][1], "EAGAIN" if os.getuid() else "EPERM")

    def test_prove_attacks_the_one_that_nobody_asked_for(self):
        found = self.prove("")
        self.assertEqual({name: verdict for name, (verdict, _) in found.items()},
                         {**{name: "blocked" for name in LIMITS_ATTACKS}, "limits-in-force": "skipped"})
        self.assertEqual(self.prove("add('--bind', '/sys/fs/cgroup', '/sys/fs/cgroup')")["limits-lift"][0], "leaked")

    def test_the_tree_of_cgroups_is_not_handed_in(self):
        self.profile({"pids": 100})
        for path in ("/sys/fs/cgroup", "/sys", PARENT):
            said = self.refused("--mount-rw", f"{path}:/mnt", "--yes", "--exec", "true")
            self.assertIn(f"mount '{path}' allows the box to remove its own limits", said)
        shown = self.claudebox("--mount-ro", f"{PARENT}:/mnt", "--yes", "--exec", "sh", "-c", "echo max >/mnt/claudebox-*/pids.max || cat /mnt/claudebox-*/pids.max")
        self.assertEqual(shown.stdout, "100\n", shown.stderr)
        self.profile({})
        self.assertEqual(self.claudebox("--mount-rw", f"{PARENT}:/mnt", "--yes", "--exec", "true").returncode, 0)

    def test_it_is_shown(self):
        self.profile({"memory": "1.5G", "cpu": "50%"})
        audit = self.claudebox("--yes", "--exec", "true").stderr
        self.assertIn(f"Limits:  by a cgroup in {PARENT}\n  [+] 1536M of memory, without swap (profile limited)\n"
                      "  [~] 8192 processes and threads\n  [+] 50% of one processor's time (profile limited)\n", audit)
        self.assertEqual(self.plan("--exec", "true")["limits"], {
            "by": "cgroup", "memory": {"value": 1536 << 20, "origin": "profile limited"}, "pids": {"value": 8192, "origin": None},
            "cpu": {"value": 50, "origin": "profile limited"}})
        self.assertIn(f" own, one level below one in {PARENT} with:\n#   memory.max {1536 << 20}\n",
                      self.claudebox("--dry-run", "--exec", "true").stdout.replace("\n# one in", " one in"))
        self.assertIn("- This box has at most 1536M of memory, without swap, 8192 processes and threads, 50% of one processor's time.",
                      self.box("cat /etc/claude-code/SANDBOX.md"))
        self.assertIn(f"ok       limits    memory, pids, cpu: by a cgroup in {PARENT}", self.claudebox("--check").stdout)


if __name__ == "__main__":
    unittest.main()
