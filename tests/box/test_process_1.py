# SPDX-License-Identifier: MIT
"""Process 1 ends the box when claudebox is killed. The agent can neither slow it down nor change
its settings."""
import os
import resource
import signal
import subprocess
import time
import unittest

from lib.box import CLAUDEBOX, BoxTest, processes_with, until

AS_ROOT = True

# Changes the scheduling of process `pid` in every way and prints what succeeded and each error.
CHANGE = r"""
import ctypes, errno, os, resource, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[1])
zero = ctypes.byref(ctypes.c_int(0))
mask = ctypes.byref(ctypes.c_ulong(1))
attributes = (ctypes.c_uint32 * 14)(56, 3, 0, 0, 19)  # SCHED_BATCH, nice 19
limit = resource.getrlimit(resource.RLIMIT_NOFILE)
ioprio = {"x86_64": 251, "aarch64": 30, "riscv64": 30}[os.uname().machine]
setattr_ = {"x86_64": 314, "aarch64": 274, "riscv64": 274}[os.uname().machine]
def call(function, *arguments):
    ctypes.set_errno(0)
    return "done" if function(*arguments) >= 0 else errno.errorcode[ctypes.get_errno()]
def prlimit():
    try:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
results = {
    "setpriority": call(libc.setpriority, 0, pid, 19),
    "sched_setscheduler": call(libc.sched_setscheduler, pid, 3, zero),
    "sched_setparam": call(libc.sched_setparam, pid, zero),
    "sched_setattr": call(libc.syscall, setattr_, pid, attributes, 0),
    "sched_setaffinity": call(libc.sched_setaffinity, pid, 8, mask),
    "ioprio_set": call(libc.syscall, ioprio, 1, pid, 2 << 13 | 7),
    "prlimit": prlimit(),
}
if pid == 1:
    os.setpgid(0, 1) if os.getpgid(1) == 1 else None  # joins its process group
    results |= {"group": call(libc.setpriority, 1, 0, 19), "user": call(libc.setpriority, 2, 0, 19), "other": call(libc.setpriority, 1, 1, 19),
                "io group": call(libc.syscall, ioprio, 2, 0, 2 << 13 | 7), "io user": call(libc.syscall, ioprio, 3, 0, 2 << 13 | 7)}
print(results)
"""

FILES = """
import errno, os
for name in ("autogroup", "oom_score_adj", "oom_adj", "comm", "coredump_filter", "clear_refs", "timerslack_ns", "sched", "mem", "task/1/comm",
             "task/1/oom_score_adj", "attr/current"):
    try:
        os.write(os.open(f"/proc/1/{name}", os.O_WRONLY), b"5")
        print(name, "written")
    except OSError as error:
        pass
print("end")
"""

# Processes that use all of one processor, where process 1 is the least important one.
STARVE = CHANGE.split("results = {")[0] + r"""
import signal
libc.setpriority(0, 1, 19)
libc.sched_setscheduler(1, 5, zero)  # SCHED_IDLE
libc.sched_setaffinity(1, 8, mask)
for _ in range(40):
    if os.fork() == 0:
        signal.alarm(8)
        libc.sched_setaffinity(0, 8, mask)
        while True:
            pass
print("ready", flush=True)
signal.alarm(8)
signal.pause()
"""


class Process1(BoxTest):
    def python(self, script, *arguments, **options):
        done = self.claudebox("--network", "none", "--yes", "--exec", "/usr/bin/python3", "-c", script, *arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr[-400:])
        return done.stdout

    def test_its_scheduling_cannot_be_changed(self):
        for nested in (False, *([True] if os.getuid() else [])):
            self.profile(nested=nested)
            results = eval(self.python(CHANGE, "1"))  # pylint: disable=eval-used
            self.assertEqual(set(results.values()), {"EPERM"}, results)
            self.assertEqual(len(results), 12)

    def test_a_process_can_change_its_own(self):
        results = eval(self.python(CHANGE, "0"))  # pylint: disable=eval-used
        self.assertEqual(set(results.values()), {"done"}, results)
        script = "sleep 5 & renice -n 19 -p $! >/dev/null && taskset -pc 0 $! >/dev/null && ionice -c 3 -p $! && chrt -b -p 0 $! && nice true && echo end"
        self.assertEqual(self.box(script), "end\n")

    def test_its_files_cannot_be_written(self):
        """Also when root starts the box: they belong to the box's user then."""
        self.assertEqual(self.python(FILES), "end\n")

    def test_the_box_has_no_priority_over_others(self):
        """Also if the user may set real-time priorities."""
        def allow():
            for kind in (resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE):
                try:
                    resource.setrlimit(kind, (30, 30))
                except ValueError:
                    pass  # root of a container
        out = self.box("prlimit -o RESOURCE,HARD --noheadings | grep -E '^(RTPRIO|NICE)'; chrt -f 10 true 2>/dev/null && echo real-time", preexec_fn=allow)
        self.assertEqual(out.split(), ["NICE", "0", "RTPRIO", "0"])

    def test_the_box_ends_at_once_when_claudebox_is_killed(self):
        mark = f"mark{os.getpid()}x{time.monotonic_ns()}"
        with subprocess.Popen([CLAUDEBOX, "--network", "none", "--yes", "--exec", "/usr/bin/python3", "-c", STARVE, "1", mark], cwd=self.project,
                              env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(signal.SIGKILL)
        self.assertTrue(until(lambda: not processes_with(mark), 4))


if __name__ == "__main__":
    unittest.main()
