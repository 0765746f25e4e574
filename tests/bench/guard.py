#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cost of the guard and of snapshots: guard.py BUILD [ROUNDS] [OTHER]. Alternating runs; OTHER is another claudebox, for example without a guard.

start   until the agent's first byte, and until claudebox has ended, in a small repository and in a large one: 50,000 files in 10,000
        directories and 100 submodules; each over a box with a read-only project, which needs no guard; and with snapshots
report  from the agent's first byte until claudebox has ended, when the agent has changed a file: over a session without changes, which
        prints no report, and over one without snapshots
status  `git status` in the box over the one outside, in the large repository
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run  # noqa: E402

GOALS = {"small": 1, "large": 10}  # milliseconds until the agent starts
SNAPSHOT_GOALS = {"small": 10, "large": 300}
GUARDED, WITHOUT, SAVED, CHANGED = "with the guard", "read-only project", "with snapshots", "a change"
REPORT_GOAL = 200
# Prints the first byte when it has changed the file.
CHANGE = ["sh", "-c", "date +%N >changed && echo x"]
STATUS = """
import subprocess, time
time.sleep(0.5)  # until the watches are set
for _ in range(ROUNDS):
    began = time.perf_counter()
    subprocess.run(["git", "status", "--porcelain"], stdout=subprocess.DEVNULL, check=True)
    print(time.perf_counter() - began)
"""


def git(*words, cwd):
    subprocess.run(["git", "-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=b", *map(str, words)], cwd=cwd, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_large(path):
    for number in range(10_000):
        directory = path / f"d{number // 100}" / f"e{number % 100}"
        directory.mkdir(parents=True)
        for name in range(5):
            (directory / f"f{name}").write_text(f"{number} {name}\n")
    git("init", "-q", path, cwd=path.parent)
    git("add", ".", cwd=path)
    git("commit", "-qm", "files", cwd=path)
    (path / ".git/modules").mkdir()
    # As `git submodule add` would, but quickly.
    for number in range(100):
        module = path / ".git/modules" / f"m{number}"
        git("init", "-q", "--separate-git-dir", module, path / f"m{number}", cwd=path)
    return path


def times_of(command, project, environment):
    """Returns the times until the first byte and until the end, in milliseconds."""
    began = time.perf_counter()
    with subprocess.Popen(command, cwd=project, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        first = process.stdout.read(1)
        middle = time.perf_counter()
        process.stdout.read()
    assert first == b"x" and process.returncode == 0, process.returncode
    return (middle - began) * 1000, (time.perf_counter() - began) * 1000


def alternate(label, commands, project, environment, rounds):
    """Runs the commands in turn. Prints and returns the times of each."""
    times = {name: [] for name in commands}
    for number in range(rounds + 2):
        for name, command in commands.items():
            values = times_of(command, project, environment)
            if number >= 2:
                times[name].append(values)
    for name, values in times.items():
        first, whole = zip(*values)
        print(f"start   {label:6} {name:20} agent {statistics.median(first):7.2f} ms median, {min(first):7.2f} least; "
              f"end {statistics.median(whole):7.2f} median, {min(whole):7.2f} least")
    return times.values()


def measure_start(label, commands, project, environment, rounds):
    """Measures the guard first, without runs that take snapshots in between: what these have removed slows down the next run for a minute (ext4
    passes over such inodes)."""
    fixed, saved, changed, guarded = commands.pop(WITHOUT), commands.pop(SAVED), commands.pop(CHANGED), commands
    without, *with_guards = alternate(label, {WITHOUT: fixed} | guarded, project, environment, rounds)
    for name, with_guard in zip(guarded, with_guards):
        added = [a[0] - b[0] for a, b in zip(with_guard, without)]
        least = min(a[0] for a in with_guard) - min(b[0] for b in without)
        print(f"start   {label:6} {name} added {statistics.median(added):+.2f} ms median, {least:+.2f} ms least (goal: at most {GOALS[label]})")
    with_guard, with_snapshots, with_change = alternate(label, {GUARDED: guarded[GUARDED], SAVED: saved, CHANGED: changed}, project, environment,
                                                        rounds)
    added = [a[0] - b[0] for a, b in zip(with_snapshots, with_guard)]
    print(f"start   {label:6} snapshots added {statistics.median(added):+.2f} ms median (goal: at most {SNAPSHOT_GOALS[label]}), "
          f"{statistics.median(a[1] - b[1] for a, b in zip(with_snapshots, with_guard)):+.2f} ms until the end")
    ends = [[whole - first for first, whole in values] for values in (with_change, with_snapshots, with_guard)]
    print(f"report  {label:6} end {statistics.median(ends[0]):.2f} ms median, over a session without changes "
          f"{statistics.median(a - b for a, b in zip(ends[0], ends[1])):+.2f} ms, over one without snapshots "
          f"{statistics.median(a - b for a, b in zip(ends[0], ends[2])):+.2f} ms (goal: at most {REPORT_GOAL})")


def measure_status(claudebox, project, environment, rounds):
    script = STATUS.replace("ROUNDS", "3")
    inside, outside = [], []
    for _ in range(max(2, rounds // 3)):
        for values, prefix in ((inside, [claudebox, "--yes", "--exec"]), (outside, [])):
            done = subprocess.run([*prefix, "/usr/bin/python3", "-c", script], cwd=project, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
            values += [float(line) * 1000 for line in done.stdout.split()]
    print(f"status  inside {statistics.median(inside):.1f} ms, outside {statistics.median(outside):.1f} ms; "
          f"ratio of medians {statistics.median(inside) / statistics.median(outside):.3f}, of the least {min(inside) / min(outside):.3f} "
          "(goal: at most 1.05)")


def measure(claudebox, other, home, environment, rounds):
    (home / ".claudebox").mkdir(mode=0o700)
    run.write_profile(environment, "fixed", {"project": "read-only"})
    run.write_profile(environment, "guard", {"undo": "off"})
    for label in ("small", "large"):
        commands = {GUARDED: [claudebox, "--profile", "guard", "--yes", "--exec", "echo", "x"],
                    WITHOUT: [claudebox, "--profile", "fixed", "--yes", "--exec", "echo", "x"],
                    SAVED: [claudebox, "--yes", "--exec", "echo", "x"],
                    CHANGED: [claudebox, "--yes", "--exec", *CHANGE]}
        if other:
            commands["the other program"] = [other, "--profile", "guard", "--yes", "--exec", "echo", "x"]
        measure_start(label, commands, home / label, environment, rounds if label == "small" else max(5, rounds // 4))
    measure_status(claudebox, home / "large", environment, max(6, rounds // 8))


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    directory = pathlib.Path(tempfile.mkdtemp(prefix="claudebox-bench-"))
    try:
        shutil.copy(pathlib.Path(sys.argv[1]).resolve() / "claudebox", directory / "claudebox")
        if len(sys.argv) > 3:
            shutil.copy(sys.argv[3], directory / "other")
        home = directory / "home"
        (home / "small").mkdir(parents=True)
        (home / "large").mkdir()
        git("init", "-q", home / "small", cwd=home)
        make_large(home / "large")
        agent = directory / "claude"
        agent.write_text("#!/bin/sh\n")
        agent.chmod(0o755)
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", f"{run.USER.pw_uid}:{run.USER.pw_gid}", directory], check=True)
        environment = run.ENV | {"HOME": str(home), "CLAUDEBOX_CLAUDE": str(agent)}
        other = str(directory / "other") if len(sys.argv) > 3 else None
        sys.exit(run.as_user(None, measure, str(directory / "claudebox"), other, home, environment, rounds))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
