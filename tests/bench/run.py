#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the cost of claudebox: run.py BUILD [ROUNDS]. Ratios of commands that alternate within one run.

start    claudebox --yes --exec true over the very bwrap command that --dry-run prints, executed without a shell
filter   that command with and without the system-call filter, and with and without user namespaces
limits   a box whose profile limits memory, processes and processor time, over one whose profile does not
terminal the same in a real pseudo-terminal: start, output of 100 MB, and the echo of a key, each over "terminal": "direct"
tools    a box with eight toolchain managers on PATH, over one with the system's directories only
files    a start with 5 MB of Claude files over one without, when none of them is on the list of searched files and when all are
npm      the second `npm ci` of a project with some 300 packages in the box, over the second one outside
memory   resident beside bwrap while an agent runs: the supervisor and init
"""
import base64
import contextlib
import fcntl
import json
import os
import pathlib
import pwd
import random
import re
import shlex
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib.cgroup_inside import delegated, enter, here  # noqa: E402

FILTER = 9  # its descriptor in the script
FILTER_OPTIONS = (f"--seccomp {FILTER}", "--disable-userns")
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8"}


USER = pwd.getpwnam("nobody")  # for root: an ordinary user runs claudebox, so does the benchmark


def as_user(leaf, measure, *arguments):
    """Runs a command in a process of its own, in a cgroup if one is given. Returns its exit status."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    status = 1
    try:
        if leaf:
            enter(leaf)
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(USER.pw_gid)
            os.setuid(USER.pw_uid)
        measure(*arguments)
        sys.stdout.flush()
        status = 0
    except Exception:  # what the parent made is the parent's to remove
        traceback.print_exc()
    finally:
        os._exit(status)


def parse(script):
    """Parses the bwrap command of a dry run: its arguments, and the content of its here-documents by descriptor."""
    start = script.index("\n", script.rindex("mkdir -p")) + 1
    while script.startswith("ln ", start):
        start = script.index("\n", start) + 1
    command, documents, lines = [], {}, script[start:].split("\n")
    at = 0
    while lines[at].endswith("\\"):
        at += 1
    words = shlex.split("\n".join(lines[: at + 1]).replace("\\\n", " "))
    at += 1
    for word in words:
        match = re.fullmatch(r"(\d*)<<(\w+);?", word)
        if word == "|":  # what comes before it makes the filter
            command.clear()
        elif not match and not re.fullmatch(r"\d<&[\d-];?|\}", word):
            command.append(word)
        if not match:
            continue
        text = []
        while lines[at] != match[2]:
            text.append(lines[at])
            at += 1
        at += 1
        data = "\n".join(text) + "\n"
        documents[int(match[1] or FILTER)] = re.sub(r"\\([\\$`])", r"\1", data).encode() if match[1] else base64.b64decode(data)
    return command, documents


def on_terminal(command, environment, descriptors=(), use=None):
    """Runs a command in a new session on a pseudo-terminal. Reads its output, or lets `use` do it; returns the result or the time."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2):
            os.dup2(slave, fd)
        for fd in descriptors:
            os.set_inheritable(fd, True)
        os.execvpe(command[0], command, environment)
    os.close(slave)
    try:
        result = use(master) if use else None
        while use is None and os.read(master, 65536):
            pass
    except OSError:  # the last program has closed the terminal
        pass
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        raise RuntimeError(f"{command[0]} failed on a terminal")
    took = time.perf_counter() - began
    os.close(master)
    return result if use else took


def bare_bwrap(script, environment, without=(), terminal=False):
    """Returns a function that runs the bwrap command once, with new descriptors for its data and without some of its options."""
    for option in without:
        script = script.replace(f"  {option} \\\n", "")
    command, documents = parse(script)

    def start():
        moved = list(command)
        descriptors = []
        for at, word in enumerate(command):
            if word in ("--file", "--seccomp"):
                fd = os.memfd_create("data")
                os.write(fd, documents[int(command[at + 1])])
                os.lseek(fd, 0, os.SEEK_SET)
                moved[at + 1] = str(fd)
                descriptors.append(fd)
        if terminal:
            took = on_terminal(moved, environment, descriptors)
        else:
            began = time.perf_counter()
            subprocess.run(moved, env=environment, pass_fds=descriptors, stdin=subprocess.DEVNULL, check=True)
            took = time.perf_counter() - began
        for fd in descriptors:
            os.close(fd)
        return took

    return start


def timed(command, environment):
    def start():
        began = time.perf_counter()
        subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return time.perf_counter() - began

    return start


def take_turns(label, runs, rounds):
    """Prints the times in milliseconds."""
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(run() * 1000)
    for name, values in times.items():
        print(f"{label:7} {name:32} {statistics.median(values):7.2f} ms median, {min(values):6.2f} ms least")
    return times


def measure_start(claudebox, environment, rounds):
    script = subprocess.run([claudebox, "--dry-run", "--exec", "true"], env=environment, check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    runs = {
        "claudebox --yes --exec true": timed([claudebox, "--yes", "--exec", "true"], environment),
        "the same bwrap command": bare_bwrap(script, environment),
        "without its filter": bare_bwrap(script, environment, FILTER_OPTIONS[:1]),
        "and with user namespaces": bare_bwrap(script, environment, FILTER_OPTIONS),
        "true": timed(["true"], environment),
    }
    times = take_turns("start", runs, rounds)
    ours, bare = (times[name] for name in list(runs)[:2])
    least = [min(values) for values in times.values()]
    medians = [statistics.median(values) for values in times.values()]
    print(f"filter  {medians[1] - medians[2]:+.2f} ms median, {least[1] - least[2]:+.2f} ms least (goal: at most 0.5); "
          f"no user namespaces {medians[2] - medians[3]:+.2f} ms median, {least[2] - least[3]:+.2f} ms least")
    ratio = statistics.median(a / b for a, b in zip(ours, bare))
    print(f"start   ratio {ratio:.2f} (goal: at most 1.5), of the least {min(ours) / min(bare):.2f}")


def measure_limits(claudebox, environment, rounds):
    directory = pathlib.Path(environment["HOME"]) / ".claudebox/profiles"
    directory.mkdir(parents=True, exist_ok=True)
    for name, profile in (("plain", {}), ("limited", {"limits": {"memory": "1G", "pids": 1000, "cpu": "200%"}})):
        (directory / f"{name}.json").write_text(json.dumps(profile))
    limited, plain = ([claudebox, "--profile", name, "--yes", "--exec", "true"] for name in ("limited", "plain"))
    tried = subprocess.run([claudebox, "--profile", "limited", "--dry-run=json", "--exec", "true"], env=environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if tried.returncode:
        print(f"limits  not measured here: {tried.stderr.splitlines()[0].removeprefix('claudebox: ')}")
        return
    way = json.loads(tried.stdout)["limits"]["by"]
    times = take_turns("limits", {f"with, by {way}": timed(limited, environment), "without": timed(plain, environment)}, rounds)
    having, without = times.values()
    print(f"limits  {statistics.median(having) - statistics.median(without):+.2f} ms median, {min(having) - min(without):+.2f} ms least")


def make_toolchains(home):
    """Creates the directories of eight managers, and returns their entries of PATH."""
    data = home / ".local/share"
    programs = [home / ".nvm/versions/node" / version / "bin/node" for version in ("v20.1.0", "v22.9.0")]
    programs += [home / ".cargo/bin/cargo", home / ".rustup/toolchains/stable/bin/rustc", home / ".deno/bin/deno", home / ".bun/bin/bun",
                 home / ".pyenv/shims/python", home / ".pyenv/versions/3.12.1/bin/python", home / ".sdkman/candidates/java/21/bin/java",
                 home / "go/bin/gopls", data / "uv/tools/ruff/bin/ruff"]
    for path in programs:
        for part in ("lib", "include"):
            (path.parent.parent / part).mkdir(parents=True, exist_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    (home / ".local/bin").mkdir()
    (home / ".local/bin/ruff").symlink_to(programs[-1])
    return [str(path.parent) for path in programs if "versions/3" not in str(path) and "uv" not in str(path)] + [str(home / ".local/bin")]


def measure_toolchains(claudebox, environment, rounds):
    path = ":".join([*make_toolchains(pathlib.Path(environment["HOME"])), environment["PATH"]])
    having = environment | {"PATH": path}
    plan = json.loads(subprocess.run([claudebox, "--dry-run=json", "--exec", "true"], env=having, check=True, stdout=subprocess.PIPE).stdout)
    managers = {row["name"] for row in plan["toolchains"]}
    mounts = sum("toolchain" in row and row["kind"] == "read-only" for row in plan["mounts"])
    start = [claudebox, "--yes", "--exec", "true"]
    times = take_turns("tools", {f"{len(managers)} managers, {mounts} mounts": timed(start, having), "without": timed(start, environment)}, rounds)
    more = [a - b for a, b in zip(*times.values())]
    least = [min(values) for values in times.values()]
    print(f"tools   {statistics.median(more):+.2f} ms median, {least[0] - least[1]:+.2f} ms least (goal: at most {1 + 0.1 * mounts:.1f})")


def write_profile(environment, name, profile):
    directory = pathlib.Path(environment["HOME"]) / ".claudebox/profiles"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{name}.json").write_text(json.dumps(profile))


def output_time(master):
    """Returns the time from the mark at the beginning of the output to the one at its end."""
    seen = b""
    while b"<<<" not in seen:
        seen += os.read(master, 65536)
    began = time.perf_counter()
    tail = seen.partition(b"<<<")[2]
    while b">>>" not in tail:
        tail = tail[-3:] + os.read(master, 65536)
    return time.perf_counter() - began


def echo_time(master):
    """Returns the median time from a key to its echo."""
    seen, times = b"", []
    while b"READY" not in seen:
        seen += os.read(master, 65536)
    for _ in range(300):
        began = time.perf_counter()
        os.write(master, b"k")
        os.read(master, 65536)
        times.append(time.perf_counter() - began)
    with contextlib.suppress(OSError):
        while os.read(master, 65536):
            pass
    return statistics.median(times)


def measure_terminal(claudebox, environment, rounds):
    script = subprocess.run([claudebox, "--dry-run", "--exec", "true"], env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    start = [claudebox, "--yes", "--exec", "true"]
    times = take_turns("terminal", {"claudebox --yes --exec true": lambda: on_terminal(start, environment),
                                    "the same bwrap command": bare_bwrap(script, environment, terminal=True)}, rounds)
    ours, bare = times.values()
    ratio = statistics.median(a / b for a, b in zip(ours, bare))
    print(f"terminal start ratio {ratio:.2f} (goal: at most 1.5), of the least {min(ours) / min(bare):.2f}")
    write_profile(environment, "direct", {"terminal": "direct"})
    pathlib.Path("large").write_bytes((b"the quick brown fox jumps over the lazy dog, 0123456789 and back again\n" * 1480000)[:100_000_000])
    cat = ["sh", "-c", "stty -opost; printf '<<<'; cat large; printf '>>>'"]
    echo = ["sh", "-c", "stty raw -echo; printf READY; dd bs=1 count=300 status=none"]
    found = {}
    for _ in range(max(3, rounds // 60)):
        for name, options in (("direct", ["--profile", "direct"]), ("filtered", [])):
            for kind, command, use in (("output", cat, output_time), ("echo", echo, echo_time)):
                found.setdefault((kind, name), []).append(
                    on_terminal([claudebox, "--yes", *options, "--exec", *command], environment, use=use))
    os.unlink("large")
    for (kind, name), values in found.items():
        print(f"terminal {kind:6} {name:9} {statistics.median(values) * 1000:9.2f} ms median, {min(values) * 1000:9.2f} ms least")
    ratio = statistics.median(a / b for a, b in zip(found["output", "filtered"], found["output", "direct"]))
    more = statistics.median(a - b for a, b in zip(found["echo", "filtered"], found["echo", "direct"])) * 1000
    print(f"terminal output of 100 MB ratio {ratio:.2f} (goal: at most 1.5); echo of a key {more:+.3f} ms (goal: at most +1)")


def write_claude_files(directory):
    """Writes 5 MB of text in 500 files, of the kinds that plugins consist of."""
    words = [word for word in pathlib.Path(__file__).read_text().split() if word.strip("(),.:_").isalpha()]
    chosen = random.Random(5)
    for number in range(500):
        place = directory / f"plugins/p{number % 20}/skills/s{number // 100}"
        place.mkdir(parents=True, exist_ok=True)
        lines = (" ".join(chosen.choices(words, k=12)) for _ in range(300))
        (place / f"{number}.{('md', 'py', 'txt')[number % 3]}").write_text("\n".join(lines)[:10000])


def measure_files(claudebox, environment, rounds):
    home = pathlib.Path(environment["HOME"])
    write_claude_files(home / "five")
    time.sleep(2.1)  # a file that has just changed is searched again
    start = [claudebox, "--yes", "--exec", "true"]
    having = timed(start, environment | {"CLAUDE_CONFIG_DIR": str(home / "five")})

    def first():
        (home / ".claudebox/searched").unlink(missing_ok=True)
        return having()

    times = take_turns("files", {"5 MB, searched": first, "5 MB, on the list": having,
                                 "none": timed(start, environment | {"CLAUDE_CONFIG_DIR": str(home / "nothing")})}, rounds)
    searched, known, none = times.values()
    ratios = [statistics.median(a / b for a, b in zip(values, none)) for values in (searched, known)]
    print(f"files   ratio {ratios[0]:.2f} at the first start, {ratios[1]:.2f} at the second")


def measure_npm(claudebox, environment, rounds):
    """Both have a warm cache of their own: the box in its kept home."""
    if not shutil.which("npm"):
        print("npm     not measured here: npm is not installed")
        return
    project = pathlib.Path("npm").absolute()
    project.mkdir()
    (project / ".gitignore").write_text("node_modules/\n")
    (project / "package.json").write_text(json.dumps({"dependencies": {"jest": "29.7.0", "eslint": "8.57.1"}}))
    quiet = {"cwd": project, "env": environment, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
    subprocess.run(["npm", "install", "--package-lock-only", "--no-audit", "--no-fund"], **quiet)
    install = ["npm", "ci", "--no-audit", "--no-fund", "--prefer-offline"]
    runs = {"in the box": [claudebox, "--yes", "--exec", *install], "outside": install}

    def timed_install(command):
        began = time.perf_counter()
        subprocess.run(command, **quiet)
        return time.perf_counter() - began

    for command in runs.values():
        timed_install(command)  # fills the cache
    times = take_turns("npm", {name: (lambda command=command: timed_install(command)) for name, command in runs.items()}, rounds)
    count = len(json.loads((project / "package-lock.json").read_text())["packages"]) - 1
    ratio = statistics.median(a / b for a, b in zip(*times.values()))
    print(f"npm     {count} packages: ratio {ratio:.2f} (goal: at most 1.1)")


def measure_memory(claudebox, environment):
    process = subprocess.Popen([claudebox, "--yes", "--exec", "sh", "-c", "echo started; exec sleep 60"], env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    process.stdout.readline()
    time.sleep(1)
    total = 0
    for pid in [process.pid, *subprocess.run(["pgrep", "-f", "^/proc/self/fd/5 .*echo started"], stdout=subprocess.PIPE,
                                             text=True, check=False).stdout.split()]:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        total += int(re.search(r"VmRSS:\s+(\d+)", status)[1])
    process.terminate()
    process.wait()
    print(f"memory  supervisor and init {total} KiB resident (goal: at most 3072)")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    directory = pathlib.Path(tempfile.mkdtemp(prefix="claudebox-bench-"))
    try:
        claudebox = directory / "claudebox"
        shutil.copy(build / "claudebox", claudebox)
        project = directory / "home" / "project"
        project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", project], check=True)
        agent = directory / "claude"
        agent.write_text("#!/bin/sh\n")
        agent.chmod(0o755)
        for path in [directory, *directory.rglob("*")] if os.getuid() == 0 else []:
            os.chown(path, USER.pw_uid, USER.pw_gid)
        os.chdir(project)
        environment = ENV | {"HOME": str(directory / "home"), "CLAUDEBOX_CLAUDE": str(agent)}
        status = as_user(None, measure_start, str(claudebox), environment, rounds)
        status |= as_user(None, measure_toolchains, str(claudebox), environment, rounds)
        status |= as_user(None, measure_files, str(claudebox), environment, max(10, rounds // 10))
        status |= as_user(None, measure_npm, str(claudebox), environment, max(3, rounds // 40))
        status |= as_user(None, measure_terminal, str(claudebox), environment, rounds)
        with delegated(USER) if here() else contextlib.nullcontext() as leaf:
            status |= as_user(leaf, measure_limits, str(claudebox), environment, rounds)
        sys.exit(status | as_user(None, measure_memory, str(claudebox), environment))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
