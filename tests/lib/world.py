# SPDX-License-Identifier: MIT
"""A World: network namespaces with a host, its neighbours and an internet, without a connection to the real network.

For an ordinary user the World is a user namespace where the test is root. claudebox runs in a nested user namespace, where it is an
ordinary user again and has no capability over the "host". For root there is no user namespace. world_inside.py has the addresses.
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading

HERE = pathlib.Path(__file__).resolve().parent
CONNECT = (HERE / "connect.py").read_text(encoding="utf-8")

LISTEN = """
import socket, sys
with socket.create_server((sys.argv[2], 0)) as listener, socket.socket(fileno=int(sys.argv[1])) as channel:
    socket.send_fds(channel, [b"x"], [listener.fileno()])
"""

# Addresses that a box in the tier inet must not reach. All of them answer to the host.
FORBIDDEN4 = {
    "192.168.77.5": "host", "198.51.100.5": "host, public", "172.17.0.1": "host, docker0", "100.101.1.5": "host, tailnet",
    "192.168.77.1": "router", "192.168.77.10": "LAN", "198.51.100.10": "on-link, public", "172.17.0.2": "container",
    "100.101.1.10": "tailnet", "169.254.169.254": "metadata", "168.63.129.16": "Azure's platform", "10.9.9.9": "private", "172.20.0.9": "private",
    "198.18.0.9": "benchmarking", "192.88.99.1": "6to4 relay",
}
FORBIDDEN6 = {
    "2001:db8:1::5": "host", "fd7a:115c:a1e0::5": "host, tailnet", "fd00:77::5": "host, ULA", "2001:db8:1::1": "router",
    "2001:db8:1::10": "LAN, global", "fd00:77::10": "LAN, ULA", "fd7a:115c:a1e0::10": "tailnet", "fd00:ec2::254": "metadata",
    "2001:0:cb00:710a::1": "Teredo", "2001:1::1": "router, by anycast", "64:ff9b:1::c0a8:4d0a": "NAT64 of one's own",
}
ALLOWED4 = ("203.0.113.10", "203.0.113.20")
ALLOWED6 = ("2001:db8:f::10", "2001:db8:f::20", "64:ff9b::cb00:710a")
# No machine has these addresses, so a test can only see the refusal.
MULTICAST4 = ("224.0.0.251", "239.255.255.250", "255.255.255.255")
MULTICAST6 = ("ff02::fb%", "ff05::2", "ff0e::1")


def mapped(address):
    return f"::ffff:{address}"


def nat64(address):
    return "64:ff9b::%02x%02x:%02x%02x" % tuple(socket.inet_aton(address))


def six_to_four(address):
    return "2002:%02x%02x:%02x%02x::1" % tuple(socket.inet_aton(address))


class World:
    """A test class creates it and calls close(). `families` and `online` select the host's addresses and default routes."""

    def __init__(self, families="46", online=True):
        wanted = [*families, *(["online"] if online else [])]
        self.root = os.getuid() == 0
        self.process = subprocess.Popen(
            ["unshare", *([] if self.root else ["--user", "--map-root-user"]), "--net", "--mount", "/usr/bin/python3",
             str(HERE / "world_inside.py"), ",".join(wanted)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with bounded(self.process, 20):
            line = self.process.stdout.readline()
        if not line:
            self.close()
            raise AssertionError("the world did not start")
        pids = json.loads(line)
        self.host, self.outside = pids["host"], pids["outside"]
        self.namespace = os.readlink(f"/proc/{self.host}/ns/net")

    def close(self):
        """Kills all processes in the world."""
        if self.process.poll() is None and hasattr(self, "namespace"):
            for pid in self.other_processes():
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait(10)
        self.process.stdin.close()
        self.process.stdout.close()

    def other_processes(self):
        """Returns the processes in the host's network namespace that are not the world's own: claudebox, pasta, a DNS relay."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and int(entry.name) != self.host and os.readlink(entry / "ns/net") == self.namespace:
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def enter(self, pid=None):
        """Returns a command prefix that enters the world as its root, without a new process."""
        pid = pid or self.host
        user = [] if self.root else [f"--user=/proc/{pid}/ns/user", "--preserve-credentials"]
        return ["nsenter", *user, f"--net=/proc/{pid}/ns/net", f"--mount=/proc/{pid}/ns/mnt"]

    def as_user(self, cwd):
        """Returns the same for the user that runs the tests, who has no capabilities unless it is root."""
        inner = [] if self.root else ["unshare", "--user", f"--map-user={os.getuid()}", f"--map-group={os.getgid()}"]
        return [*self.enter(), *inner, "env", f"--chdir={cwd}"]

    def run(self, *command, pid=None, check=True, text="", pass_fds=()):
        """Runs a command as root of the world, on the host or, with pid=world.outside, outside; `text` is its input."""
        done = subprocess.run([*self.enter(pid), *map(str, command)], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=30, pass_fds=pass_fds)
        if check and done.returncode:
            raise AssertionError(f"{command[0]}: {done.stderr}")
        return done.stdout

    def listen(self, address, pid=None):
        """Returns a listening TCP socket of the world, for a server in this process."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.run("/usr/bin/python3", "-c", LISTEN, str(theirs.fileno()), address, pid=pid, pass_fds=[theirs.fileno()])
            return socket.socket(fileno=socket.recv_fds(ours, 1, 1)[1][0])

    def write(self, path, content):
        """Writes a file in the host's /etc or /run; ("->", target) creates a link."""
        if isinstance(content, tuple):
            self.run("sh", "-c", 'mkdir -p "${1%/*}"; rm -f "$1"; ln -s "$2" "$1"', "sh", path, content[1])
        else:
            self.run("sh", "-c", 'mkdir -p "${1%/*}"; rm -f "$1"; cat >"$1"', "sh", path, text=content)

    def cover(self, path, source):
        """Mounts `source` over a path of the host, until uncover()."""
        path = os.path.realpath(path)
        self.run("mount", "--bind", source, path)
        return path

    def uncover(self, path):
        self.run("umount", path)

    def connect(self, table, pid=None):
        """Runs connect.py without a box."""
        return json.loads(self.run("/usr/bin/python3", "-c", CONNECT, json.dumps(table), pid=pid))

    def sockets(self):
        """Returns the listening TCP sockets and bound UDP sockets of the host."""
        return set(self.run("ss", "-Hlntu").splitlines())


@contextlib.contextmanager
def bounded(process, seconds):
    """Kills the process after a timeout, so that reading from it ends."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
