#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every test against a build directory: run.py BUILD [NAME...]; a NAME picks the files whose path holds it.

C tests (BUILD/tests/*) speak TAP. Python files under cli/, box/, claude/, unit/ and, only when picked, programs/ are unittest modules; each runs in a process
of its own, as an ordinary user: root is who CI is, not who runs claudebox. A module with AS_ROOT = True runs as root
as well when we are root; one with NEEDS_NIX = True runs where there is a Nix daemon (lib/nix_inside.py), which trusts the user
if it also has NIX_TRUSTS_US = True; one with NEEDS_CGROUP = True where limits can be had (lib/cgroup_inside.py), and with BY_SYSTEMD = True
where systemd keeps the cgroups; one with OWN_PROCESSES = True in a PID namespace, where its signals reach nobody else. The last line is the total.
"""
import concurrent.futures
import functools
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

HERE = pathlib.Path(__file__).resolve().parent
USER = "claudebox-test"
CLAUDE = {"CLAUDE_NEW": "2.1.325", "CLAUDE_OLD": "2.1.100"}
SUITES = ("unit", "cli", "box", "claude")
BY_NAME_ONLY = ("programs",)  # their packages are big
IN_CI = os.environ.get("CI") == "true"


def account():
    """The ordinary user that tests run as: ourselves, or one made for this when we are root."""
    if os.getuid():
        return pwd.getpwuid(os.getuid())
    try:
        return pwd.getpwnam(USER)
    except KeyError:
        subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", USER], check=True)
        return pwd.getpwnam(USER)


def cache_directory():
    """What is installed for tests and measurements, kept from run to run; never in the project."""
    cache = pathlib.Path("/var/cache/claudebox-test" if os.getuid() == 0 else os.path.expanduser("~/.cache/claudebox-test"))
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def install_claude(cache):
    """Paths of the two Claude Codes that the tests use, installed once."""
    paths = {}
    for name, version in CLAUDE.items():
        command = [HERE.parent / "tools/claude.sh", "--version", version, "--prefix", cache / "claude-code"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode == 0:
            paths[name] = done.stdout.strip()
    return paths


def stage(build, directory):
    """A copy of what the tests need, readable by the ordinary user wherever the checkout lies."""
    shutil.copy(build / "claudebox", directory)
    for program in ("tests/relay", "tests/syscalls", "src/prove/attack/claudebox-attack", "src/seccomp/seccomp-generator", "src/seccomp/seccomp_rules.json"):
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
    """A fixed environment: nothing of the caller's changes a result."""
    base = {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": user.pw_dir,
        "USER": user.pw_name,
        "LOGNAME": user.pw_name,
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "CLAUDEBOX": str(directory / "claudebox"),
        "STAGE": str(directory),
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
    """A command prefix: a view of the machine where everybody may open /dev/net/tun, as on most; empty where that is so or cannot be."""
    try:
        if os.stat("/dev/net/tun").st_mode & 0o006 == 0o006:
            return []
    except FileNotFoundError:
        return []
    script = 'mount -t tmpfs -o mode=755 tmpfs /dev/net && mknod -m 666 /dev/net/tun c 10 200 && exec "$@"'
    prefix = ["unshare", "--mount", "sh", "-c", script, "sh"]
    done = subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL, check=False)
    return [] if done.returncode else prefix


def says(path, mark):
    """Whether a module asks for something of ours."""
    return re.search(rf"^{mark} = True$", path.read_text(encoding="utf-8"), re.M)


def becoming(user, *between):
    """A command prefix: as that user; `between` is what root has to do before."""
    if os.getuid() == user.pw_uid:
        return [*between]
    return [*with_tun(), *between, "setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--"]


def obstacles(user, directory, variables):
    """What keeps many tests from passing on this machine, in the words of --check."""
    done = subprocess.run([*becoming(user), directory / "claudebox", "--check=json", "--network", "inet"], cwd=directory, env=variables,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    try:
        rows = json.loads(done.stdout)["checks"]
    except json.JSONDecodeError:
        return ""
    return "".join(f"many tests can't pass here: {row['name']}: {row['detail']}\nhint: {row['fix']}\n" for row in rows
                   if row["state"] != "ok" and (row["name"] == "bwrap" or "/dev/" in row["detail"]))


def as_user(user, command, path):
    if says(path, "NEEDS_NIX") and shutil.which("nix-daemon"):
        trusted = ["--trusted"] if says(path, "NIX_TRUSTS_US") else []
        return [*with_tun(), "/usr/bin/python3", str(HERE / "lib/nix_inside.py"), *trusted, str(user.pw_uid), *command]
    if says(path, "NEEDS_CGROUP"):
        systemd = ["--systemd"] if says(path, "BY_SYSTEMD") else []
        return ["/usr/bin/python3", str(HERE / "lib/cgroup_inside.py"), *systemd, str(user.pw_uid), *command]
    alone = []
    if says(path, "OWN_PROCESSES"):
        alone = ["unshare", *(["--user", "--map-current-user"] if os.getuid() else []), "--pid", "--fork", "--kill-child", "--mount-proc"]
    return [*becoming(user, *alone), *command]


def run_tap(path, build):
    """A C test: lines of TAP."""
    variables = {"PATH": os.environ["PATH"], "SOURCE": str(HERE.parent), "BUILD": str(build)}
    done = subprocess.run([path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables, check=False)
    passed = len(re.findall(r"^ok ", done.stdout, re.M))
    failed = len(re.findall(r"^not ok ", done.stdout, re.M))
    planned = re.search(r"^1\.\.(\d+)$", done.stdout, re.M)
    if done.returncode and not failed or not planned or int(planned[1]) != passed + failed:
        failed += 1
    return f"unit/{path.name}", passed, failed, 0, done.stdout if failed else ""


def run_python(name, path, user, variables, directory):
    """A unittest module, in a process of its own; its last line is a summary for us."""
    command = ["/usr/bin/python3", str(directory / "tests/lib/module.py"), str(directory / "tests" / path)]
    try:
        done = subprocess.run(as_user(user, command, HERE / path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", env=variables,
                              cwd=directory, timeout=540, check=False)
        summary = json.loads(done.stdout.strip().splitlines()[-1])
        output = done.stdout
    except subprocess.TimeoutExpired as error:
        summary, output = {"passed": 0, "failed": 1, "skipped": 0}, (error.stdout or b"").decode(errors="replace")
    except (json.JSONDecodeError, IndexError):
        summary, output = {"passed": 0, "failed": 1, "skipped": 0}, done.stdout
    if IN_CI and summary["skipped"]:
        summary["failed"] += summary.pop("skipped")
        summary["skipped"] = 0
    return name, summary["passed"], summary["failed"], summary["skipped"], output if summary["failed"] or summary["skipped"] else ""


def take_signals_seriously():
    """A runner in the background, or under nohup, ignores some; claudebox would rightly go on ignoring them."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP, signal.SIGUSR1, signal.SIGUSR2):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def main():
    take_signals_seriously()
    build = pathlib.Path(sys.argv[1]).resolve()
    picked = sys.argv[2:]
    user = account()
    root = pwd.getpwuid(0)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="claudebox-test-"))
    jobs = []
    total = [0, 0, 0]
    try:
        claude = install_claude(cache_directory())
        stage(build, directory)
        notes = obstacles(user, directory, environment(user, directory, claude))
        print(notes, end="", flush=True)
        with concurrent.futures.ThreadPoolExecutor((os.cpu_count() or 2) + 1) as pool:
            wanted = lambda name: not picked or any(word in name for word in picked)
            for path in sorted((build / "tests").glob("test_*")):
                if os.access(path, os.X_OK) and path.is_file() and wanted(f"unit/{path.name}"):
                    jobs.append(pool.submit(run_tap, path, build))
            # The slow ones first, so that the processors are busy to the end; some only wait.
            for suite in reversed(SUITES + BY_NAME_ONLY if picked else SUITES):
                for path in sorted((HERE / suite).glob("test_*.py")):
                    name = f"{suite}/{path.name}"
                    if not wanted(name):
                        continue
                    jobs.append(pool.submit(run_python, name, name, user, environment(user, directory, claude), directory))
                    if os.getuid() == 0 and says(path, "AS_ROOT"):
                        jobs.append(pool.submit(run_python, f"{name} (root)", name, root,
                                                environment(root, directory, claude), directory))
            started = time.monotonic()
            for job in concurrent.futures.as_completed(jobs):
                name, passed, failed, skipped, output = job.result()
                print(f"{'FAIL' if failed else 'ok':4} {name}: {passed} passed, {failed} failed"
                      f"{f', {skipped} skipped' if skipped else ''} ({time.monotonic() - started:.0f} s)", flush=True)
                if output:
                    print("".join(f"     {line}\n" for line in output.splitlines()), flush=True)
                total = [total[0] + passed, total[1] + failed, total[2] + skipped]
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if not total[0]:
        total[1] += 1
    print(notes, end="")
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))
    sys.exit(1 if total[1] else 0)


if __name__ == "__main__":
    main()
