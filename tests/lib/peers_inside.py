# SPDX-License-Identifier: MIT
"""Runs a command as the user in new namespaces, for the attacks on peers: peers_inside.py UID PEERS
COMMAND...

All namespaces are new; only root gets no user namespace, because firejail is setuid. So kill(-1),
connections to metadata and private addresses, and files that a peer creates in a home affect no
process or file of this machine. There is an empty home at the path of the real one (firejail reads
passwd, not $HOME), sockets of a desktop, Docker and the system, an interface with a default route
that leads nowhere, and the peers below /usr/local, where `npm install --global` puts them.
"""
import os
import pathlib
import pwd
import socket
import subprocess
import sys

SOCKETS = ("/run/dbus/system_bus_socket", "/run/docker.sock", "/run/user/{uid}/bus", "/run/user/{uid}/gnupg/S.gpg-agent", "/tmp/.X11-unix/X0")
LINKS = ("link set lo up", "link add out type veth peer name end", "address add 192.0.2.9/24 dev out", "link set out up", "link set end up",
         "route add default via 192.0.2.1", "-6 address add 2001:db8:9::9/64 dev out nodad", "-6 route add default dev out")


def mount_empty(path, mode="755", owner=0):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode={mode},uid={owner}", "tmpfs", path], check=True)


def make_places(uid, home, owner):
    mount_empty("/run")
    mount_empty("/tmp", "1777")
    mount_empty("/dev/shm", "1777")
    subprocess.run(["mount", "-t", "devpts", "-o", "newinstance,mode=620,ptmxmode=666", "devpts", "/dev/pts"], check=True)
    mount_empty(home, "700", owner)
    runtime = pathlib.Path(f"/run/user/{uid}")
    runtime.mkdir(parents=True)
    os.chown(runtime, owner, -1)
    runtime.chmod(0o700)


def make_peers(peers):
    """Mounts the prefixes of the peers and links their programs into a directory of the user's
    PATH."""
    mount_empty("/usr/local")
    for name in ("bin", "peers"):
        os.mkdir(f"/usr/local/{name}")
    subprocess.run(["mount", "--bind", peers, "/usr/local/peers"], check=True)
    for program in sorted(pathlib.Path("/usr/local/peers").glob("*/bin/*")):
        os.symlink(f"../{program.relative_to('/usr/local')}", f"/usr/local/bin/{program.name}")


def make_sockets(uid, owner):
    """Creates listening sockets, which the caller must keep."""
    kept = []
    for path in (pathlib.Path(place.format(uid=uid)) for place in SOCKETS):
        path.parent.mkdir(parents=True, exist_ok=True)
        kept.append(socket.socket(socket.AF_UNIX))
        kept[-1].bind(str(path))
        kept[-1].listen(64)
        path.chmod(0o666)
        if path.is_relative_to("/run/user"):
            for made in (path, path.parent):
                os.chown(made, owner, -1)
    return kept


def inside(user, alone, peers, command):
    """Runs as the first process of the namespaces, whose end ends all others. `alone`: the user
    namespace maps only one user, as root."""
    owner = 0 if alone else user.pw_uid
    make_peers(peers)  # before the home is covered, because they may be in it
    make_places(user.pw_uid, user.pw_dir, owner)
    listening = make_sockets(user.pw_uid, owner)
    for line in LINKS:
        subprocess.run(["ip", *line.split()], check=True)
    if alone:
        prefix = ["unshare", "--user", f"--map-user={user.pw_uid}", f"--map-group={user.pw_gid}", "--"]
    else:
        prefix = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--"]
    main = subprocess.Popen([*prefix, *command], cwd=user.pw_dir)
    while True:
        pid, status = os.wait()
        if pid == main.pid:
            del listening
            sys.exit(os.waitstatus_to_exitcode(status) & 0xff)


def outside(arguments):
    alone = os.getuid() != 0
    user = ["--user", "--map-root-user"] if alone else []
    os.execvp("unshare", ["unshare", *user, "--mount", "--pid", "--net", "--ipc", "--uts", "--mount-proc", "--fork", "--kill-child",
                          "/usr/bin/python3", __file__, "--alone" if alone else "--many", *arguments])


def main():
    arguments = sys.argv[1:]
    if arguments[0] not in ("--alone", "--many"):
        outside(arguments)
    inside(pwd.getpwuid(int(arguments[1])), arguments[0] == "--alone", arguments[2], arguments[3:])


if __name__ == "__main__":
    main()
