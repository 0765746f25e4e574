# SPDX-License-Identifier: MIT
"""Runs a command where limits can be set: cgroup_inside.py [--systemd] UID COMMAND...

A cgroup (v2) that belongs to the user, with all controllers, and the command in a leaf below it: on this machine when we are root and it
has the controllers, or else in a small kernel of its own (user-mode Linux), whose root is this machine's, to read, with homes and temporary
files in memory. Nothing of this machine's cgroups changes then. With --systemd it is always such a kernel, systemd runs for the user,
and the command is in a scope, as after a login.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import platform
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path("/sys/fs/cgroup")
LIMITS = {"memory", "pids", "cpu"}
KERNEL = "linux.uml"
MODULES = pathlib.Path("/usr/lib/uml/modules")
FINIT_MODULE = 313  # user-mode Linux is for this one architecture
BEGIN, END = "--- the command begins ---", "--- the command ended with "
MEMORY = "1536M"
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


def end_with_parent():
    """Ends with the parent process."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def here():
    """Returns whether this machine's own cgroup tree is usable."""
    try:
        return os.getuid() == 0 and LIMITS <= set((ROOT / "cgroup.controllers").read_text(encoding="ascii").split())
    except OSError:
        return False


def give(directory, user):
    for path in (directory, *(directory / name for name in ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads", "cgroup.max.descendants"))):
        os.chown(path, user.pw_uid, user.pw_gid)


def delegate(directory, user):
    directory.mkdir(parents=True, exist_ok=True)
    for level in [*reversed(directory.relative_to(ROOT).parents), directory.relative_to(ROOT)]:
        (ROOT / level / "cgroup.subtree_control").write_text("+memory +pids +cpu", encoding="ascii")
    give(directory, user)


def as_user(user, command):
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--", *command] if user.pw_uid else command


def enter(leaf):
    (leaf / "cgroup.procs").write_text("0", encoding="ascii")


def run_in(leaf, command, **options):
    """Starts the command in a cgroup."""
    return subprocess.Popen(command, preexec_fn=lambda: enter(leaf), **options)


@contextlib.contextmanager
def delegated(user):
    """Creates a cgroup below one that the user may change."""
    top = ROOT / f"claudebox-test.{os.getpid()}"
    delegate(top, user)
    leaf = top / "leaf"
    leaf.mkdir()
    give(leaf, user)
    try:
        yield leaf
    finally:
        for directory in (*top.iterdir(), top):
            if directory.is_dir():
                subprocess.run(["rmdir", directory], check=False)


def run_delegated(user, command):
    with delegated(user) as leaf:
        return run_in(leaf, as_user(user, command), env=dict(os.environ, CGROUP_TEST=str(leaf.parent))).wait()


def run_by_systemd(user, command):
    """Runs in a scope that is created by hand: only the machine's own systemd can move processes across the tree."""
    leaf = ROOT / f"user.slice/user-{user.pw_uid}.slice/user@{user.pw_uid}.service/login.scope"
    leaf.mkdir()
    give(leaf, user)
    variables = dict(os.environ, CGROUP_TEST=str(leaf.parent), XDG_RUNTIME_DIR=f"/run/user/{user.pw_uid}")
    return run_in(leaf, as_user(user, command), env=variables).wait()


def boot(arguments):
    """Runs the same in user-mode Linux; other output of that kernel is dropped."""
    # The address space of that kernel's processes is too small for the sanitizers.
    sanitized = b"__asan_init" in pathlib.Path(os.environ["CLAUDEBOX"]).read_bytes()
    if sanitized or not shutil.which(KERNEL, path=PATH):
        print("not run: the kernel has no controllers for cgroup v2 here, and", KERNEL, "is for no sanitizer" if sanitized else "is missing")
        print(json.dumps({"passed": 0, "failed": 0, "skipped": 0 if sanitized else 1}))
        return 0
    end_with_parent()
    words = {"arguments": arguments, "environment": dict(os.environ)}
    # A directory of its own for its sockets, because other tests copy the stage at the same time.
    with tempfile.TemporaryDirectory(prefix="claudebox-test-", dir="/var/tmp") as home:
        request = pathlib.Path(home, "request")
        request.write_text(json.dumps(words), encoding="utf-8")
        command = [KERNEL, f"mem={MEMORY}", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "loglevel=1", "con=null", "con0=fd:0,fd:1",
                   "init=/usr/bin/python3", "--", __file__, "--inside", str(request)]
        done = subprocess.run(command, env={"PATH": PATH, "HOME": home, "TMPDIR": "/dev/shm"}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=500, preexec_fn=end_with_parent, check=False)
    text = done.stdout.decode(errors="replace").replace("\r\n", "\n")
    if BEGIN not in text or END not in text:
        print(text)
        return 1
    text, _, rest = text.partition(BEGIN + "\n")[2].rpartition(END)
    print(text, end="")
    return int(rest.split()[0])


def mount(kind, path, options="mode=755"):
    subprocess.run(["mount", "-t", kind, "-o", options, kind, path], check=True)


def load(name):
    """Loads a module of that kernel with its dependencies; there may be no modprobe."""
    directory = MODULES / platform.release()
    needs = dict(line.split(":") for line in (directory / "modules.dep").read_text(encoding="ascii").splitlines())
    path = next(path for path in needs if pathlib.Path(path).stem == name)
    for file in (*reversed(needs[path].split()), path):
        with open(directory / file, "rb") as module:
            ctypes.CDLL(None).syscall(FINIT_MODULE, module.fileno(), b"", 0)  # those that are there already are refused


def make_network():
    """Loads the modules that the tier inet needs."""
    for name in ("ipv6", "veth", "tun"):
        load(name)
    os.chmod("/dev/net/tun", 0o666)


def make_machine(user):
    """Does the work of an init."""
    os.environ["PATH"] = PATH
    for kind, path in (("proc", "/proc"), ("sysfs", "/sys"), ("cgroup2", ROOT)):
        mount(kind, path, "rw")
    os.makedirs("/dev/pts", exist_ok=True)
    os.makedirs("/dev/shm", exist_ok=True)
    mount("devpts", "/dev/pts", "ptmxmode=666,mode=620")
    mount("tmpfs", "/dev/shm", "mode=1777")
    mount("tmpfs", "/run")
    stage = os.environ["STAGE"]
    os.mkdir("/run/stage")
    subprocess.run(["mount", "--bind", stage, "/run/stage"], check=True)
    for path, mode in (("/tmp", "1777"), ("/var/tmp", "1777"), (user.pw_dir, "700")):
        mount("tmpfs", path, f"mode={mode},uid={user.pw_uid if path == user.pw_dir else 0}")
    os.makedirs(stage, exist_ok=True)
    subprocess.run(["mount", "--bind", "/run/stage", stage], check=True)
    make_network()
    os.chdir(stage)


def start_systemd(user):
    """Starts the user's systemd as a login does. A directory makes it believe that systemd booted the machine."""
    service = ROOT / f"user.slice/user-{user.pw_uid}.slice/user@{user.pw_uid}.service"
    runtime = pathlib.Path(f"/run/user/{user.pw_uid}")
    os.makedirs("/run/systemd/system")
    delegate(service, user)
    for path in service.iterdir():
        os.chown(path, user.pw_uid, user.pw_gid)
    # Its own processes go into a child: a cgroup that delegates controllers has no processes itself.
    (service / "cgroup.subtree_control").write_text("-memory -pids -cpu", encoding="ascii")
    runtime.mkdir(parents=True)
    os.chown(runtime, user.pw_uid, user.pw_gid)
    variables = {"PATH": PATH, "HOME": user.pw_dir, "XDG_RUNTIME_DIR": str(runtime), "SYSTEMD_LOG_LEVEL": "err"}
    run_in(service, as_user(user, ["/usr/lib/systemd/systemd", "--user"]), env=variables, stdin=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not ((runtime / "systemd/private").exists() and (service / "init.scope").exists()):
        if time.monotonic() > end:
            raise TimeoutError("systemd did not start")
        time.sleep(0.05)


def inside(request):
    """Runs as the first process of that kernel."""
    words = json.loads(pathlib.Path(request).read_text(encoding="utf-8"))
    os.environ.clear()
    os.environ.update(words["environment"])
    systemd = words["arguments"][0] == "--systemd"
    uid, *command = words["arguments"][systemd:]
    user = pwd.getpwuid(int(uid))
    status = 1
    try:
        make_machine(user)
        if systemd:
            start_systemd(user)
        print(BEGIN, flush=True)
        status = run_by_systemd(user, command) if systemd else run_delegated(user, command)
    finally:
        print(f"{END}{status}", flush=True)
        pathlib.Path("/proc/sysrq-trigger").write_text("o", encoding="ascii")
        time.sleep(10)


def main():
    if sys.argv[1] == "--inside":
        inside(sys.argv[2])
    elif here() and sys.argv[1] != "--systemd":
        sys.exit(run_delegated(pwd.getpwuid(int(sys.argv[1])), sys.argv[2:]))
    else:
        sys.exit(boot(sys.argv[1:]))


if __name__ == "__main__":
    main()
