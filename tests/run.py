#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests against a build directory.

    run.py BUILD [NAME...]      all tests, or those whose path contains a NAME
    run.py BUILD --once         all tests of this build, each as one user only (for slow builds)
    run.py BUILD --compiled     the C tests only; needs no account, no copy and no network
    run.py --module FILE        one Python module in this process; the runner starts itself this way

C tests are the programs BUILD/tests/test_*, which print TAP. Python tests are the unittest modules
in unit/, cli/, box/ and claude/, and in programs/ when a NAME selects them. Each module runs in a
process of its own as an ordinary user, because claudebox is not meant to be run by root.

A module requests a different environment by a constant:

    AS_ROOT = True          runs a second time as root, if the runner is root; in place of True: a tuple of the classes and tests that do, where
                            root makes no difference for the others (all of them do in `make stress`)
    NEEDS_NIX = True        runs beside a Nix daemon (lib/nix_inside.py)
    NIX_TRUSTS_US = True    ... which lists the user in trusted-users
    NEEDS_CGROUP = True     runs in a cgroup that can be limited (lib/cgroup_inside.py)
    BY_SYSTEMD = True       ... of which systemd is the owner
    OWN_PROCESSES = True    runs in a PID namespace of its own
    OWN_BUILD = True        builds claudebox itself, so it does not run with --once

STRESS=N in the environment multiplies the rounds of tests that repeat something (lib/stress.py).
The last line of the output is the total: "N passed, N failed[, N skipped]".
"""
import concurrent.futures
import functools
import importlib.util
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"
USER = "claudebox-test"
CLAUDE = {"CLAUDE_NEW": "2.1.325", "CLAUDE_OLD": "2.1.100"}
SUITES = ("claude", "unit", "box", "cli")
# The longest modules start first, so that all processors are busy until the end.
LONGEST = ("cli/test_front_door.py", "claude/test_screen.py", "claude/test_credentials.py", "box/test_limits.py", "box/test_flake.py",
           "claude/test_sandbox.py", "claude/test_turn.py", "cli/test_completions.py", "box/test_limits_systemd.py", "unit/test_relay.py",
           "box/test_terminal.py", "box/test_terminal_end.py", "box/test_state.py", "box/test_packages.py")
SELECTED_ONLY = ("programs",)  # these install large packages
STAGED_PROGRAMS = ("tests/relay", "tests/guard-pure", "tests/syscalls", "src/prove/attack/claudebox-attack", "src/seccomp/seccomp-generator",
                   "src/seccomp/relay-seccomp-generator", "src/seccomp/seccomp_rules.json")
IN_CI = os.environ.get("CI") == "true"
STRESS = max(1, int(os.environ.get("STRESS") or 1))
TIMEOUT = 540 * STRESS  # seconds for one module


def account():
    """Returns the ordinary user of the tests: the caller, or for root an account created here."""
    if os.getuid():
        return pwd.getpwuid(os.getuid())
    try:
        return pwd.getpwnam(USER)
    except KeyError:
        subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", USER], check=True)
        return pwd.getpwnam(USER)


def cache_directory():
    """Returns the directory for programs that tests install; it persists between runs."""
    cache = pathlib.Path("/var/cache/claudebox-test" if os.getuid() == 0 else os.path.expanduser("~/.cache/claudebox-test"))
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def install_claude(cache):
    """Installs the missing Claude Code versions of the tests; returns the paths of all."""
    paths = {}
    for name, version in CLAUDE.items():
        command = [HERE.parent / "tools/claude.sh", "--version", version, "--prefix", cache / "claude-code"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode == 0:
            paths[name] = done.stdout.strip()
    return paths


def stage(build, directory):
    """Copies the program, the tests and the sources to where the ordinary user can read them."""
    shutil.copy(build / "claudebox", directory)
    for program in STAGED_PROGRAMS:
        shutil.copy(build / program, directory)
    shutil.copytree(HERE, directory / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for entry in HERE.parent.iterdir():
        if entry.is_file():
            shutil.copy(entry, directory)
        elif entry.name != "tests" and not entry.name.startswith((".", "build")):
            shutil.copytree(entry, directory / entry.name, symlinks=True)
    subprocess.run(["chmod", "-R", "a+rX", directory], check=True)
    os.chmod(directory, 0o755)


def environment(user, directory, claude):
    """Returns a fixed environment, so that no variable of the caller changes a result."""
    base = {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": user.pw_dir,
        "USER": user.pw_name,
        "LOGNAME": user.pw_name,
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "CLAUDEBOX": str(directory / "claudebox"),
        "STAGE": str(directory),
        "STRESS": str(STRESS),
        "PYTHONPATH": str(directory / "tests"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
    if IN_CI:
        base["CI"] = "true"
    return base | claude


@functools.cache
def with_tun():
    """Returns a command prefix that makes /dev/net/tun accessible to all users.

    Most distributions do so. The prefix is empty where the device is accessible, or cannot be.
    """
    try:
        if os.stat("/dev/net/tun").st_mode & 0o006 == 0o006:
            return []
    except FileNotFoundError:
        return []
    script = 'mount -t tmpfs -o mode=755 tmpfs /dev/net && mknod -m 666 /dev/net/tun c 10 200 && exec "$@"'
    prefix = ["unshare", "--mount", "sh", "-c", script, "sh"]
    done = subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL, check=False)
    return [] if done.returncode else prefix


def requests(path, constant):
    """Returns whether a module sets one of the constants above."""
    return re.search(rf"^{constant} = (True|\(.*\))$", path.read_text(encoding="utf-8"), re.M)


def change_user(user, *prefix):
    """Returns a command prefix that changes to the user; root executes `prefix` before."""
    if os.getuid() == user.pw_uid:
        return [*prefix]
    return [*with_tun(), *prefix, "setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--"]


def as_user(user, command, path):
    """Returns the command for a module, in the environment that the module requests."""
    if requests(path, "NEEDS_NIX") and shutil.which("nix-daemon"):
        trusted = ["--trusted"] if requests(path, "NIX_TRUSTS_US") else []
        return [*with_tun(), PYTHON, str(HERE / "lib/nix_inside.py"), *trusted, str(user.pw_uid), *command]
    if requests(path, "NEEDS_CGROUP"):
        systemd = ["--systemd"] if requests(path, "BY_SYSTEMD") else []
        return [PYTHON, str(HERE / "lib/cgroup_inside.py"), *systemd, str(user.pw_uid), *command]
    namespace = []
    if requests(path, "OWN_PROCESSES"):
        own_user = ["--user", "--map-current-user"] if os.getuid() else []
        namespace = ["unshare", *own_user, "--pid", "--fork", "--kill-child", "--mount-proc"]
    return [*change_user(user, *namespace), *command]


def find_obstacles(user, directory, variables):
    """Returns lines of --check about this machine that explain the failure of many tests."""
    done = subprocess.run([*change_user(user), directory / "claudebox", "--check=json", "--network", "inet"], cwd=directory,
                          env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False)
    try:
        rows = json.loads(done.stdout)["checks"]
    except json.JSONDecodeError:
        return ""
    return "".join(f"many tests fail on this machine: {row['name']}: {row['detail']}\nhint: {row['fix']}\n" for row in rows
                   if row["state"] != "ok" and (row["name"] == "bwrap" or "/dev/" in row["detail"]))


def run_tap(path, build):
    """Runs a C test and counts its lines of TAP."""
    variables = {"PATH": os.environ["PATH"], "SOURCE": str(HERE.parent), "BUILD": str(build), "STRESS": str(STRESS)}
    done = subprocess.run([path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables, check=False)
    passed = len(re.findall(r"^ok ", done.stdout, re.M))
    failed = len(re.findall(r"^not ok ", done.stdout, re.M))
    planned = re.search(r"^1\.\.(\d+)$", done.stdout, re.M)
    if done.returncode and not failed or not planned or int(planned[1]) != passed + failed:
        failed += 1
    return f"unit/{path.name}", passed, failed, 0, done.stdout if failed else ""


def timed(function, *arguments):
    """Calls a function that runs tests; returns its result and the seconds that it took."""
    started = time.monotonic()
    result = function(*arguments)
    return result, time.monotonic() - started


def only(names, suite):
    """Returns the tests of a suite of which the class or the name is in the list. Each name must occur."""
    def tests_of(part):
        return [test for below in part for test in tests_of(below)] if isinstance(part, unittest.TestSuite) else [part]
    tests = tests_of(suite)
    for name in names:
        assert any(name in test.id().split(".") for test in tests), f"AS_ROOT names {name}, which does not exist"
    return unittest.TestSuite(test for test in tests if set(names) & set(test.id().split(".")))


def run_module(file):
    """Runs one unittest module in this process and prints the results as a last line of JSON."""
    spec = importlib.util.spec_from_file_location("module", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["module"] = module
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    if os.getuid() == 0 and STRESS == 1 and isinstance(module.AS_ROOT, tuple):
        suite = only(module.AS_ROOT, suite)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    # An error in setUpClass counts although no test ran.
    passed = max(0, result.testsRun - failed - len(result.skipped))
    print()
    print(json.dumps({"passed": passed, "failed": failed, "skipped": len(result.skipped)}))


def run_python(name, path, user, variables, directory):
    """Runs a unittest module in a process of its own and reads the summary in its last line."""
    command = [PYTHON, str(directory / "tests/run.py"), "--module", str(directory / "tests" / path)]
    try:
        done = subprocess.run(as_user(user, command, HERE / path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", env=variables,
                              cwd=directory, timeout=TIMEOUT, check=False)
        summary = json.loads(done.stdout.strip().splitlines()[-1])
        output = done.stdout
    except subprocess.TimeoutExpired as error:
        output = (error.stdout or b"").decode(errors="replace") + f"\nstopped after {TIMEOUT} seconds"
        summary = {"passed": 0, "failed": 1, "skipped": 0}
    except (json.JSONDecodeError, IndexError):
        summary, output = {"passed": 0, "failed": 1, "skipped": 0}, done.stdout
    if IN_CI:  # CI has everything: a skipped test is a failed one
        summary["failed"] += summary["skipped"]
        summary["skipped"] = 0
    return name, summary["passed"], summary["failed"], summary["skipped"], output if summary["failed"] or summary["skipped"] else ""


def restore_signals():
    """Resets ignored signals (nohup, background jobs), because claudebox would inherit them."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP, signal.SIGUSR1, signal.SIGUSR2):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def is_selected(name, selected):
    return not selected or any(word in name for word in selected)


def worker_pool():
    """Returns a pool with more workers than processors: many tests wait for a process or a timeout."""
    return concurrent.futures.ThreadPoolExecutor((os.cpu_count() or 2) + 3)


def tap_programs(build):
    return [path for path in sorted((build / "tests").glob("test_*")) if os.access(path, os.X_OK) and path.is_file()]


def submit_python(pool, directory, user, claude, selected, once):
    """Returns a job for each Python module, and a second one for modules that also run as root."""
    jobs = []
    root = pwd.getpwuid(0)
    names = [f"{suite}/{path.name}" for suite in (SUITES + SELECTED_ONLY if selected else SUITES) for path in sorted((HERE / suite).glob("test_*.py"))]
    for name in sorted(names, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST)):
        path = HERE / name
        if is_selected(name, selected) and not (once and requests(path, "OWN_BUILD")):
            jobs.append(pool.submit(timed, run_python, name, name, user, environment(user, directory, claude), directory))
            if os.getuid() == 0 and requests(path, "AS_ROOT") and not once:
                jobs.append(pool.submit(timed, run_python, f"{name} (root)", name, root, environment(root, directory, claude), directory))
    return jobs


def collect(jobs):
    """Prints each result as it arrives; returns how many checks passed, failed and were skipped."""
    total = [0, 0, 0]
    for job in concurrent.futures.as_completed(jobs):
        (name, passed, failed, skipped, output), seconds = job.result()
        print(f"{'FAIL' if failed else 'ok':4} {name}: {passed} passed, {failed} failed"
              f"{f', {skipped} skipped' if skipped else ''} ({seconds:.0f} s)", flush=True)
        if output:
            print("".join(f"     {line}\n" for line in output.splitlines()), flush=True)
        total = [total[0] + passed, total[1] + failed, total[2] + skipped]
    return total


def run_all(build, selected, once):
    """Runs C and Python tests; returns the total, and lines about this machine."""
    user = account()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="claudebox-test-"))
    try:
        claude = install_claude(cache_directory())
        stage(build, directory)
        obstacles = find_obstacles(user, directory, environment(user, directory, claude))
        print(obstacles, end="", flush=True)
        with worker_pool() as pool:
            jobs = [pool.submit(timed, run_tap, path, build) for path in tap_programs(build) if is_selected(f"unit/{path.name}", selected)]
            jobs += submit_python(pool, directory, user, claude, selected, once)
            return collect(jobs), obstacles
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def run_compiled(build):
    """Runs the C tests, but not the purity test, which reads the libraries of a build."""
    with worker_pool() as pool:
        return collect([pool.submit(timed, run_tap, path, build) for path in tap_programs(build) if path.name != "test_purity"]), ""


def main():
    if sys.argv[1] == "--module":
        run_module(sys.argv[2])
        return
    restore_signals()
    build = pathlib.Path(sys.argv[1]).resolve()
    selected = [word for word in sys.argv[2:] if word != "--once"]
    total, obstacles = run_compiled(build) if selected == ["--compiled"] else run_all(build, selected, "--once" in sys.argv)
    if not total[0]:
        total[1] += 1
    print(obstacles, end="")
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))
    sys.exit(1 if total[1] else 0)


if __name__ == "__main__":
    main()
