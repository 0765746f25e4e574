# SPDX-License-Identifier: MIT
"""Boxes with limits: code shared by the tests of cgroups and of systemd."""
import json
import os
import pathlib
import signal
import subprocess

from lib.box import CLAUDEBOX, BoxTest, processes_with, until

# For python3 -c in the box: starts sleeping children and prints how many could start; all end with it.
FORKS = """
import os, signal, sys
children = []
try:
    for _ in range(int(sys.argv[1])):
        pid = os.fork()
        if pid == 0:
            signal.pause()
        children.append(pid)
except OSError as error:
    print("refused", error.errno)
print(len(children))
for pid in children:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
"""
# Uses that many MiB of memory.
HOG = "import sys; x = bytearray(int(sys.argv[1]) << 20); x[::4096] = b'x' * len(x[::4096]); print('had it')"
# Attempts to reach a cgroup file system from inside.
MOUNT = """
mkdir -p /tmp/c
unshare --user --map-root-user --mount --cgroup sh -c '
    mount -t cgroup2 none /tmp/c || exit
    echo mounted
    for file in /tmp/c/memory.max /tmp/c/pids.max /tmp/c/cpu.max; do echo max >$file && echo lifted $file; done
    mkdir /tmp/c/sub && echo made
    echo $$ >/tmp/c/cgroup.procs; echo 1 >/tmp/c/cgroup.procs; cat /proc/self/cgroup
' 2>/dev/null
true
"""


class LimitsTest(BoxTest):
    def profile(self, limits, name="limited", **more):
        directory = self.home / ".claudebox" / "profiles"
        directory.mkdir(parents=True, exist_ok=True)
        (self.home / ".claudebox").chmod(0o700)
        (directory / f"{name}.json").write_text(json.dumps({"limits": limits, **more}))
        self.env["CLAUDEBOX_PROFILE"] = name

    def start(self, script, *arguments, mark=None):
        """Starts a box in the background and returns when the script has printed a line."""
        process = subprocess.Popen([CLAUDEBOX, "--yes", "--exec", "sh", "-c", script, mark or "sh", *arguments], cwd=self.project, env=self.env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.stop, process)
        process.first_line = process.stdout.readline().strip()
        return process

    @staticmethod
    def stop(process):
        if process.poll() is None:
            process.kill()
        process.wait(20)
        process.stdin.close()
        process.stdout.close()

    def cgroup_of(self, mark):
        """Returns the cgroup that has the limits of the box whose processes have this mark: one level above the processes."""
        found = [pid for pid in processes_with(mark) if (pathlib.Path(f"/proc/{pid}/cgroup")).read_text().strip().endswith("/box")]
        path = pathlib.Path(f"/proc/{found[0]}/cgroup").read_text().strip().removeprefix("0::")
        return pathlib.Path("/sys/fs/cgroup" + path).parent

    def assert_holds(self):
        """Checks from inside that the limits on processes and memory hold and cannot be lifted."""
        self.profile({"memory": "96M", "pids": 40})
        self.assertRegex(self.box('python3 -c "$1" 200', FORKS), r"^refused 11\n[23]\d\n$")
        self.assertEqual(self.box('python3 -c "$1" 10', FORKS), "10\n")
        self.assertEqual(self.box('python3 -c "$1" 300; echo $?; python3 -c "$1" 8; echo $?', HOG), "137\nhad it\n0\n")
        self.assertEqual(self.claudebox("--yes", "--exec", "python3", "-c", HOG, "300").returncode, 137)
        self.profile({"memory": "96M", "pids": 40}, nested=os.getuid() != 0)  # root can't have it
        inside = self.box(MOUNT + 'cat /proc/self/cgroup; grep -c cgroup /proc/self/mountinfo; ls /sys/fs/cgroup; python3 -c "$1" 200', FORKS)
        self.assertEqual("mounted" in inside, os.getuid() != 0)
        self.assertNotIn("lifted", inside)
        self.assertNotIn("made", inside)
        self.assertRegex(inside, r"0::/\n0\nrefused 11\n[23]\d\n$")

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        process.wait(30)

    @staticmethod
    def wait_gone(path):
        return until(lambda: not os.path.exists(path), 30)
