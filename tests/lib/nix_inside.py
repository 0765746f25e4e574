# SPDX-License-Identifier: MIT
"""Runs a command on a machine with Nix: nix_inside.py [--trusted] UID COMMAND... The caller is root or the user UID.

The machine is this one, with new directories /nix and /etc/nix in memory. They have a daemon and a small flake that the registry
calls nixpkgs. Everything, including the builds, is in new namespaces and ends with the command or with the parent process.
"""
import ctypes
import json
import os
import pathlib
import platform
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
STATE = pathlib.Path("/nix/var/nix")
GROUPS = {"nixbld": 30000, "nix-users": 30001}  # the build users, and the users of the daemon, as on Debian
BUILDERS = 4
MS_BIND, MS_REC, MNT_DETACH, CLONE_NEWUSER = 4096, 16384, 2, 0x10000000
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


def must(result):
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def mirror(source, target):
    """Mounts a file or directory at another path, or copies a link."""
    if source.is_symlink():
        target.symlink_to(os.readlink(source))
        return
    if source.is_dir():
        target.mkdir()
    else:
        target.touch()
    must(LIBC.mount(os.fsencode(source), os.fsencode(target), None, MS_BIND | MS_REC, None))


def make_root():
    """Creates another root directory with the content of the old one except Nix. The lists of accounts are copies."""
    must(LIBC.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, b"mode=755"))
    os.mkdir("/tmp/old")
    must(LIBC.syscall(PIVOT_ROOT[platform.machine()], b"/tmp", b"/tmp/old"))
    os.chdir("/")
    old, root = pathlib.Path("/old"), pathlib.Path("/")
    for entry in old.iterdir():
        if entry.name not in ("nix", "etc"):
            mirror(entry, root / entry.name)
    (root / "etc/nix").mkdir(parents=True)
    for entry in (old / "etc").iterdir():
        if entry.name in ("passwd", "group"):
            shutil.copy(entry, root / "etc")
        elif entry.name != "nix":
            mirror(entry, root / "etc" / entry.name)
    must(LIBC.umount2(b"/old", MNT_DETACH))
    os.rmdir("/old")


def add_accounts(user):
    """Adds the accounts of a daemon for many users, and removes existing ones."""
    accounts = {"passwd": [], "group": []}
    for name, lines in accounts.items():
        for line in pathlib.Path("/etc", name).read_text(encoding="utf-8").splitlines():
            if not line.startswith(("nixbld", "nix-users:")):
                lines.append(line)
    builders = [f"nixbld{number}" for number in range(1, BUILDERS + 1)]
    for number, name in enumerate(builders, 1):
        accounts["passwd"].append(f"{name}:x:{GROUPS['nixbld'] + number}:{GROUPS['nixbld']}::/var/empty:/usr/sbin/nologin")
    accounts["group"].append(f"nixbld:x:{GROUPS['nixbld']}:{','.join(builders)}")
    accounts["group"].append(f"nix-users:x:{GROUPS['nix-users']}:{user.pw_name}")
    for name, lines in accounts.items():
        pathlib.Path("/etc", name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_nix(user, alone, trusted):
    """Creates the settings and the store with the flake. With `alone` there is one user id only, so the daemon builds as itself."""
    settings = {
        "experimental-features": "nix-command flakes", "substituters": "", "fsync-metadata": "false",
        # Nix's sandbox needs more than the namespaces of an ordinary user.
        "sandbox": "false" if alone else "true", "sandbox-paths": "/bin /usr /lib /lib64",
        "flake-registry": "/etc/nix/registry.json", "build-users-group": "" if alone else "nixbld",
        "allowed-users": "*" if alone else "root @nix-users",
        # With one user id, the daemon takes the user for root.
        "trusted-users": f"root {user.pw_name}" if trusted else "" if alone else "root",
    }
    pathlib.Path("/etc/nix/nix.conf").write_text("".join(f"{name} = {value}\n" for name, value in settings.items()), encoding="utf-8")
    (STATE / "daemon-socket").mkdir(parents=True)
    done = subprocess.run(["nix", "store", "add-path", "--name", "source", HERE / "nixpkgs"], env=environment(), check=True,
                          stdout=subprocess.PIPE, text=True)
    source = done.stdout.strip()
    (STATE / "gcroots/nixpkgs").symlink_to(source)
    entry = {"from": {"type": "indirect", "id": "nixpkgs"}, "to": {"type": "path", "path": source}}
    pathlib.Path("/etc/nix/registry.json").write_text(json.dumps({"version": 2, "flakes": [entry]}), encoding="utf-8")
    if alone:  # otherwise the user could write to the store
        os.chmod(STATE, 0o555)
    else:
        os.chown(STATE / "daemon-socket", 0, GROUPS["nix-users"])
        os.chmod(STATE / "daemon-socket", 0o750)


def environment():
    """Returns the environment of the daemon, which must not write to a home directory."""
    return {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/nix/home", "LANG": "C.UTF-8", "NIX_REMOTE": "local"}


def start_daemon():
    # Its messages are not needed: errors are reported to the client as well.
    daemon = subprocess.Popen(["nix-daemon"], env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + 10
    while time.monotonic() < end and daemon.poll() is None:
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(STATE / "daemon-socket/socket"))
                return
        except OSError:
            time.sleep(0.005)
    sys.exit("the Nix daemon did not start")


def inside(user, alone, trusted, command):
    """Runs as the first process of the PID namespace: when it ends, all processes in it end."""
    make_root()
    if not alone:
        # The daemon opens a pseudoterminal for each build.
        must(LIBC.mount(b"devpts", b"/dev/pts", b"devpts", 0, b"newinstance,ptmxmode=666,mode=620,gid=5"))
        add_accounts(user)
    make_nix(user, alone, trusted)
    start_daemon()
    os.chdir(os.environ["STAGE"])
    if alone:
        command = ["unshare", "--user", f"--map-user={user.pw_uid}", f"--map-group={user.pw_gid}", "--", *command]
    elif user.pw_uid:
        command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--", *command]
    main = subprocess.Popen(command, env=dict(os.environ, NIX_TEST="alone" if alone else "many"))
    while True:
        pid, status = os.wait()
        if pid == main.pid:
            sys.exit(os.waitstatus_to_exitcode(status) & 0xff)


def own_range(file, user):
    """Returns the first subordinate id of the user, and their number."""
    for line in pathlib.Path(file).read_text(encoding="utf-8").splitlines():
        name, first, count = line.split(":")
        if name in (user.pw_name, str(user.pw_uid)):
            return int(first), int(count)
    raise LookupError(f"{user.pw_name} is not in {file}")


def enter_user_namespace():
    """Enters a user namespace as its root. It has the user's own id and the ids of /etc/subuid."""
    user, pid = pwd.getpwuid(os.getuid()), os.getpid()
    ready, go = os.pipe()
    helper = os.fork()
    if not helper:
        os.close(go)
        os.read(ready, 1)
        for tool, file, own in (("newuidmap", "/etc/subuid", user.pw_uid), ("newgidmap", "/etc/subgid", user.pw_gid)):
            first, count = own_range(file, user)
            below = min(own, count)
            maps = [0, first, below, own, own, 1, *([own + 1, first + below, count - below] if count > below else [])]
            subprocess.run([tool, str(pid), *map(str, maps)], check=True)
        os._exit(0)
    must(LIBC.unshare(CLONE_NEWUSER))
    os.close(go)
    if os.waitpid(helper, 0)[1]:
        sys.exit("no subordinate user ids")
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def has_subordinate_ids():
    """Returns whether the user has subordinate ids, and newuidmap works."""
    return subprocess.run(["unshare", "--user", "--map-auto", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def outside(arguments):
    """Starts this script again in new namespaces; the PID namespace makes the kernel end all of its processes."""
    root = os.getuid() == 0
    many = root or has_subordinate_ids()
    if many and not root:
        enter_user_namespace()
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    os.execvp("unshare", ["unshare", *([] if many else ["--user", "--map-root-user"]), "--mount", "--pid", "--kill-child", "--mount-proc",
                          "/usr/bin/python3", __file__, "--many" if many else "--alone", *arguments])


def main():
    arguments = sys.argv[1:]
    if arguments[0] not in ("--alone", "--many"):
        outside(arguments)
    alone = arguments.pop(0) == "--alone"
    trusted = arguments[0] == "--trusted"
    uid, *command = arguments[1:] if trusted else arguments
    inside(pwd.getpwuid(int(uid)), alone, trusted, command)


if __name__ == "__main__":
    main()
