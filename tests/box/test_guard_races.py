# SPDX-License-Identifier: MIT
"""Programs in the box that race with the guard, and programs of the host that replace protected places meanwhile.

The assertions are about the final state and about what the host executes: they hold on a machine of any speed.
"""
import os
import statistics
import subprocess
import time
import unittest

from box.test_guard import GuardTest
from lib.box import until

AS_ROOT = True
TRIES = 40

# Tries one thing again and again until the file "stop" exists. Prints how often it succeeded.
LOOP = r"""
import os, sys, time
kind, place = sys.argv[1:3]
end = time.monotonic() + 20
count = 0
os.makedirs("scratch", exist_ok=True)
while not os.path.exists("stop") and time.monotonic() < end:
    try:
        if kind == "write":
            with open(place, "r+") as file:
                file.write("evil\n")
        elif kind == "replace":
            with open("scratch/new", "w") as file:
                file.write("evil\n")
            os.rename("scratch/new", place)
        elif kind == "remove":
            os.unlink(place)
            with open(place, "x") as file:
                file.write("evil\n")
        elif kind == "link":
            os.link(place, "scratch/link")
            with open("scratch/link", "r+") as file:
                file.write("evil\n")
        elif kind == "swap":
            os.symlink("scratch/evil", "scratch/symlink") if not os.path.lexists("scratch/symlink") else None
            os.rename("scratch/symlink", place)
        elif kind == "parent":
            os.rename(os.path.dirname(place), "scratch/away")
        count += 1
    except OSError:
        pass
print(count)
"""

# Creates a place that did not exist in many directories, and prints for how many microseconds each was visible.
VISIBLE = r"""
import os, time
for i in range(TRIES):
    os.makedirs(f"v/{i}", exist_ok=True)
    time.sleep(0.005)
    begin = time.monotonic_ns()
    fd = os.open(f"v/{i}/.envrc", os.O_CREAT | os.O_WRONLY)
    os.write(fd, b"x")
    os.close(fd)
    while os.path.lexists(f"v/{i}/.envrc"):
        if time.monotonic_ns() - begin > 10**10:
            break
    print((time.monotonic_ns() - begin) // 1000)
"""

# Writes to a judged file without an event: through a mapping, or through a descriptor that stays open.
LATE = r"""
import mmap, os, subprocess, sys, time
evil, how, path = sys.argv[1:]
if path.endswith(".git/config"):
    subprocess.run(["git", "init", "-q", path.split("/")[0]], check=True)
    bad = f"[core]\n\tfsmonitor = {evil}\n"
else:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    bad = f"script-shell={evil}\n"
with open(path, "a") as file:
    file.write("#" + " " * len(bad) + "\n")
time.sleep(0.3)
fd = os.open(path, os.O_RDWR)
size = os.fstat(fd).st_size
memory = mmap.mmap(fd, size)
if how == "mapping":
    os.close(fd)
for pause in (0, 0.3, 1.5):
    time.sleep(pause)
    if how == "mapping":
        memory[size - len(bad):] = bad.encode()
        memory[size - len(bad) - 1:size - len(bad)] = b"\n"
    else:
        os.pwrite(fd, ("\n" + bad).encode(), size - len(bad) - 1)
print("ready", flush=True)
time.sleep(30)
"""


def record(name, values):
    """Prints measured values; the runner shows them if a test of this module fails."""
    print(name, "median", statistics.median(values), "max", max(values), "of", len(values))


# Makes many empty places, which are watched, and then some more. Writes to these through another name.
LINKS = r"""
import os, sys, time
os.makedirs("node_modules/a")
for name in "xy":
    open("node_modules/a/" + name, "w").close()
for i in range(int(sys.argv[1])):
    os.makedirs(f"w/{i}")
    os.link("node_modules/a/y", f"w/{i}/.envrc")
os.makedirs(".claude", exist_ok=True)
for place in (".envrc", ".bashrc", ".claude/settings.local.json"):
    os.link("node_modules/a/x", place)
time.sleep(1.5)
with open("node_modules/a/x", "w") as file:
    file.write("evil")
time.sleep(0.7)
"""


class Races(GuardTest):
    def start_python(self, script, *arguments):
        process = subprocess.Popen([self.under_test, "--yes", "--exec", "python3", "-c", script, *map(str, arguments)], cwd=self.project, env=self.env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def stop(self, process):
        (self.project / "stop").touch()
        out, err = process.communicate(timeout=60)
        (self.project / "stop").unlink()
        return out, err

    def test_how_long_a_new_place_is_visible(self):
        out = self.start_python(VISIBLE.replace("TRIES", str(TRIES))).communicate(timeout=60)[0]
        record("visible_us", [int(line) for line in out.split()])
        self.assertEqual(len(out.split()), TRIES)
        self.assertEqual(list(self.project.rglob(".envrc")), [])
        self.assertEqual(len(self.quarantine()), TRIES)

    def test_a_place_that_exists_wins_each_race(self):
        for place, kinds in ((".envrc", ("write", "replace", "remove", "link", "swap")), (".vscode/tasks.json", ("write", "replace", "parent")),
                             (".git/hooks/pre-commit", ("write", "replace", "remove", "link", "swap", "parent")),
                             ("deep/down/.npmrc", ("write", "replace", "remove", "link", "swap"))):
            (self.project / place).parent.mkdir(parents=True, exist_ok=True)
            (self.project / place).write_text("mine\n")
            for kind in kinds:
                with self.subTest(place, kind=kind):
                    process = self.start_python(LOOP, kind, place)
                    time.sleep(0.4)
                    out, err = self.stop(process)
                    self.assertEqual(out, "0\n", err)
                    self.assertEqual((self.project / place).read_text(), "mine\n")
        self.assertEqual(self.quarantine(), [])

    def host_replaces(self, place, kind, replace):
        """A box in a loop against a host that replaces a place. Returns the number of times that the box won."""
        (self.project / place).parent.mkdir(parents=True, exist_ok=True)
        (self.project / place).write_text("mine\n")
        process = self.start_python(LOOP, kind, place)
        self.assertTrue(until((self.project / "scratch").exists, 10))
        for number in range(15):
            if process.poll() is not None or not (self.project / place).exists():
                break
            replace(number)
            time.sleep(0.02)
        time.sleep(0.2)
        return self.stop(process)

    def test_a_host_that_replaces_a_place_meanwhile(self):
        def rename(place):
            def replace(number):
                (self.project / "scratch/host").write_text(f"host {number}\n")
                os.rename(self.project / "scratch/host", self.project / place)
            return replace

        def sed(place):
            return lambda number: subprocess.run(["sed", "-i", f"s/.*/host {number}/", self.project / place], check=False, stderr=subprocess.DEVNULL)

        for place in (".envrc", ".vscode/tasks.json"):
            for kind in ("write", "replace", "remove", "link"):
                for replace in (rename, sed):
                    with self.subTest(place, kind=kind, host=replace.__name__):
                        out, err = self.host_replaces(place, kind, replace(place))
                        record(f"won_{place}_{kind}_{replace.__name__}", [int(out or -1)])
                        if (self.project / place).exists():
                            self.assertNotIn("evil", (self.project / place).read_text(), err)
                        subprocess.run(["rm", "-rf", self.project / "scratch", self.project / place], check=True)

    def test_git_config_by_the_host_meanwhile(self):
        process = self.start_python(LOOP.replace("evil\\n", f"[core]\\n\\tfsmonitor = {self.evil}\\n"), "replace", ".git/config")
        self.assertTrue(until((self.project / "scratch").exists, 10))
        for number in range(30):
            self.git("config", "user.name", f"Name {number}")
        out, err = self.stop(process)
        record("won_config", [int(out)])
        self.assertNotIn("evil", (self.project / ".git/config").read_text(), err)
        self.assertFalse(self.trigger())

    def test_how_long_a_replaced_place_is_open(self):
        script = r"""
import os, sys, time
os.makedirs("scratch", exist_ok=True)
last = os.stat(".envrc").st_ino
while not os.path.exists("stop"):
    try:
        now = os.stat(".envrc").st_ino
    except OSError:
        continue
    if now == last:
        continue
    begin = time.monotonic_ns()
    while os.access(".envrc", os.W_OK) and time.monotonic_ns() - begin < 10**10:
        pass
    last = os.stat(".envrc").st_ino
    print((time.monotonic_ns() - begin) // 1000)
"""
        (self.project / ".envrc").write_text("mine\n")
        process = self.start_python(script)
        self.assertTrue(until((self.project / "scratch").exists, 10))
        time.sleep(0.1)
        for number in range(TRIES):
            (self.project / "scratch/host").write_text(f"host {number}\n")
            os.rename(self.project / "scratch/host", self.project / ".envrc")
            time.sleep(0.04)
        out, err = self.stop(process)
        record("open_us", [int(line) for line in out.split()])
        # On a loaded machine the guard can see two replacements at once, and moves the file.
        if (self.project / ".envrc").exists():
            self.assertEqual((self.project / ".envrc").read_text(), f"host {TRIES - 1}\n", err)
        else:
            self.assertIn(".envrc", self.quarantine())
        self.assertLess(max(map(int, out.split())), 5_000_000)

    def test_a_judged_file_with_a_writer_that_stays(self):
        for path in ("sub/.git/config", "package/.npmrc"):
            for how in ("mapping", "descriptor"):
                with self.subTest(path, how=how):
                    process = self.start_python(LATE, self.evil, how, path)
                    self.assertEqual(process.stdout.readline(), "ready\n")
                    clean = until(lambda: not (self.project / path).exists() or str(self.evil) not in (self.project / path).read_text(), 10)
                    self.assertTrue(clean, "while the box runs")
                    time.sleep(0.1)
                    if path.endswith("config"):
                        self.assertFalse(self.trigger(self.project / "sub"))
                    process.terminate()
                    process.communicate(timeout=30)
                    self.assertFalse((self.project / path).exists() and str(self.evil) in (self.project / path).read_text())
                    subprocess.run(["rm", "-rf", self.project / path.split("/", maxsplit=1)[0]], check=True)

    def test_more_empty_places_than_are_watched(self):
        for i in range(1100):  # a large project is not searched again at the end
            (self.project / f"big/{i // 50}/{i}").mkdir(parents=True)
        (self.project / ".gitignore").write_text(".envrc\n.claude/settings.local.json\n.bashrc\nw/\n")
        for count in (300, 4400):
            with self.subTest(count):
                out, err = self.start_python(LINKS, count).communicate(timeout=120)
                self.assertEqual(out, "", err)
                left = [path for path in (".envrc", ".bashrc", ".claude/settings.local.json") if (self.project / path).exists()]
                self.assertEqual(left, [], err)
                self.assertEqual([path for path in self.project.rglob(".envrc") if path.stat().st_size], [])
                subprocess.run(["rm", "-rf", self.project / "w", self.project / "node_modules"], check=True)

    def test_two_boxes_in_one_project_and_one_in_a_worktree(self):
        tree = self.home / "tree"
        self.git("worktree", "add", "-q", "-b", "tree", tree)
        self.git("remote", "add", "origin", "https://example.com/x")
        script = "git config branch.%s.remote origin; mkdir -p %s; echo x >%s/.envrc; echo x >.envrc; echo ready; sleep 1; echo end"
        for tier in ("full", "none"):
            boxes = [self.start(script % (3 * (name,)), "--network", tier, cwd=where) for name, where in (("a", self.project), ("b", self.project), ("c", tree))]
            for box in boxes:
                out, err = box.communicate(timeout=60)
                self.assertEqual((out, box.returncode), ("ready\nend\n", 0), err)
            self.assertEqual([*self.project.rglob(".envrc"), *tree.rglob(".envrc")], [])
            for name in "abc":
                self.assertEqual(self.git("config", f"branch.{name}.remote"), "origin\n")
                self.git("config", "--unset", f"branch.{name}.remote")
        self.assertEqual(list(self.home.glob(".claudebox/instances/*/git-config-*")), [])


if __name__ == "__main__":
    unittest.main()
