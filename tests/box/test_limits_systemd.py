# SPDX-License-Identifier: MIT
"""Limits by a systemd scope, where systemd manages the cgroups, with a user manager."""
import json
import os
import subprocess
import unittest

from lib.limits import LimitsTest

NEEDS_CGROUP = True
BY_SYSTEMD = True

# Runs the real systemd-run with one argument replaced.
SYSTEMD_RUN = """#!/bin/sh
for word do
    shift
    [ "$word" = {0} ] && word={1}
    set -- "$@" "$word"
done
exec /usr/bin/systemd-run "$@"
"""


class LimitsBySystemd(LimitsTest):
    def setUp(self):
        super().setUp()
        self.env["XDG_RUNTIME_DIR"] = os.environ["XDG_RUNTIME_DIR"]

    def test_limits_are_set_on_the_scope(self):
        self.profile({"memory": "200M", "pids": 100, "cpu": "150%"})
        process = self.start("echo ready; read -r _; true", mark="limits-set")
        scope = self.cgroup_of("limits-set")
        self.assertRegex(scope.name, r"^run-.*\.scope$")
        values = [(scope / name).read_text().strip() for name in
                  ("memory.max", "memory.swap.max", "pids.max", "cpu.max", "cgroup.max.descendants", "cgroup.procs")]
        self.assertEqual(values, [str(200 << 20), "0", "100", "150000 100000", "1", ""])
        process.stdin.close()
        self.assertEqual(process.wait(60), 0)
        self.assertTrue(self.wait_gone(scope))

    def test_limits_are_in_effect_inside_the_box(self):
        self.assert_holds()

    def test_no_systemd_variables_in_the_box(self):
        self.profile({"pids": 100})
        self.assertEqual(self.box("tr '\\0' '\\n' </proc/1/environ; env | grep -i -e XDG_RUNTIME -e INVOCATION -e SYSTEMD -e ^PATH"),
                         self.box("env | grep -e XDG_RUNTIME -e ^PATH"))

    def test_the_scope_ends_when_claudebox_is_killed(self):
        self.profile({"pids": 100})
        process = self.start("echo ready; sleep 60", mark="limits-killed")
        scope = self.cgroup_of("limits-killed")
        self.kill(process)
        self.assertTrue(self.wait_gone(scope))

    def test_systemd_is_not_used_without_limits(self):
        process = self.start("echo ready; cat /proc/self/cgroup; read -r _; true", mark="limits-none")
        self.assertEqual(self.plan("--exec", "true")["limits"], None)
        process.stdin.close()
        self.assertEqual(process.wait(60), 0)

    def test_exit_status_and_signals(self):
        self.profile({"pids": 100})
        self.assertEqual(self.claudebox("--yes", "--exec", "sh", "-c", "exit 7").returncode, 7)
        process = self.start("trap 'echo got it; exit 5' TERM; echo ready; while :; do sleep 0.1; done")
        process.terminate()
        self.assertEqual(process.wait(60), 5)

    def test_a_systemd_that_does_not_respond_is_an_error(self):
        self.profile({"pids": 100})
        errors = self.refused(env={"XDG_RUNTIME_DIR": str(self.home)})
        self.assertIn("cannot limit the box: systemd manages the cgroup that claudebox was started in, and the systemd user instance does not run", errors)
        (self.home / "systemd").mkdir()
        (self.home / "systemd/private").touch()
        errors = self.refused(env={"XDG_RUNTIME_DIR": str(self.home)})
        self.assertIn("cannot set up the sandbox", errors)
        self.assertIn("hint: the message of systemd-run or bwrap is above", errors)

    def test_limits_that_systemd_did_not_set_stop_the_start(self):
        """systemd reports no error if it cannot set a limit, so the limits are read back."""
        self.profile({"pids": 100, "memory": "64M"})
        directory = self.scratch()
        for change, problem in (("TasksMax=100/TasksMax=infinity", "'pids.max' is 'max', not '100'"),
                                ("MemoryMax=67108864/MemoryMax=100M", f"'memory.max' is '{100 << 20}', not '{64 << 20}'")):
            (directory / "systemd-run").write_text(SYSTEMD_RUN.format(*change.split("/")))
            (directory / "systemd-run").chmod(0o755)
            errors = self.refused("--yes", "--exec", "touch", "started", env={"PATH": f"{directory}:{self.env['PATH']}"})
            self.assertIn(f"cannot limit the box: {problem}\n", errors)
            self.assertFalse((self.project / "started").exists())

    def test_prove_attacks_the_limits(self):
        self.profile({"pids": 100, "memory": "64M"})
        done = self.claudebox("--prove=json", timeout=60)
        rows = {row["name"]: (row["verdict"], row["why"]) for row in json.loads(done.stdout)["attacks"] if row["group"] == "limits"}
        self.assertEqual(rows["limits-in-force"], ("blocked", f"memory.max {64 << 20}, pids.max 100, cgroup.max.descendants 1"))
        self.assertEqual({verdict for verdict, _ in rows.values()}, {"blocked"}, rows)

    def test_a_runtime_directory_in_the_project_is_not_used(self):
        self.profile({"pids": 100})
        (self.project / "systemd").mkdir()
        (self.project / "systemd/private").touch()
        errors = self.refused("--yes", "--exec", "echo", "works", env={"XDG_RUNTIME_DIR": str(self.project)})
        self.assertIn("/project/bus' (socket: the session bus)", errors)

    def test_limits_are_shown(self):
        self.profile({"memory": "1G", "pids": 100})
        self.assertIn("Limits:  by systemd, in a scope\n", self.claudebox("--yes", "--audit=full", "--exec", "true").stderr)
        self.assertEqual(self.plan("--exec", "true")["limits"]["by"], "systemd")
        self.assertIn("ok       limits     memory, pids, cpu: by systemd-run --scope", self.claudebox("--check").stdout)
        script = self.claudebox("--dry-run", "--exec", "cat", "/proc/self/cgroup").stdout
        self.assertIn("/usr/bin/systemd-run --user --scope --quiet --collect -p Delegate=yes -p MemoryMax=1073741824 -p MemorySwapMax=0 -p TasksMax=100 -- ", script)
        done = subprocess.run(["sh", "-c", script], env=self.env, cwd=self.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.stdout, done.stderr), ("0::/\n", ""))


if __name__ == "__main__":
    unittest.main()
