# SPDX-License-Identifier: MIT
"""Canaries on the host for the attack program: one of each kind, all with the same token, and
the list that names them."""
import contextlib
import ctypes
import ipaddress
import json
import os
import pathlib
import platform
import re
import secrets
import selectors
import socket
import subprocess
import threading

STAGE = pathlib.Path(os.environ["STAGE"])
ATTACK_PROGRAM = STAGE / "claudebox-attack"
GROUPS = {name.lower().replace("_", "-"): group
          for name, group in re.findall(r"^(?:PLACE_)?ATTACK\((\w+), \"(\w+)\", ", (STAGE / "src/prove/attacks.def").read_text(encoding="utf-8"), re.M)}
ATTACKS = list(GROUPS)
# Attacks that succeed in the tier full, where the box has the host's network.
OPEN_IN_FULL = set("""
sockets-list network-loopback-tcp network-loopback-udp network-host-tcp network-host-udp network-mapped network-unspecified
network-incoming network-metadata network-private network-gateway network-multicast network-dns network-outside network-interfaces identity-interfaces
""".split())

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
ADD_KEY, KEYCTL = {"x86_64": (248, 250)}.get(platform.machine(), (217, 219))
JOIN_SESSION_KEYRING, SET_PERMISSION, INVALIDATE, LINK = 1, 5, 21, 8
SESSION_RING, USER_RING = -3, -4
IPC_CREAT, IPC_EXCL, IPC_RMID = 0o1000, 0o2000, 0

# Directories below the home where files are planted, by the attack that reads them.
HOME_FILES = {"files-ssh": ".ssh", "files-gnupg": ".gnupg", "files-cloud": ".aws", "files-registries": ".npm",
              "files-toolchains": ".cargo", "files-git": ".config/gh",
              "files-passwords": ".secrets", "files-browsers": ".mozilla", "files-history": ".history", "files-claude": ".claude",
              "files-home": ".", "files-other-projects": "other", "files-state": ".claudebox", "files-other-homes": ".claudebox/home", "files-run": "run", "files-system": "etc",
              "files-others": ".new"}
OTHER_FILES = {"files-temporary": "/tmp", "files-shared-memory": "/dev/shm"}


def system(number, *arguments):
    result = LIBC.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), "system call")
    return result


def checked(result):
    if result in (-1, None):
        raise OSError(ctypes.get_errno(), "call")
    return result


class Canaries:
    """The canaries of one test, which removes them at its end; `line` adds to the list."""

    def __init__(self, test):
        self.test = test
        self.home, self.project = test.home, test.project
        self.token = f"claudebox-canary-{secrets.token_hex(16)}"
        self.lines = [("token", self.token), ("home", self.home), ("project", self.project), ("parent", self.home)]
        self.env = {"CANARY_VARIABLE": self.token}
        self.descriptors = []
        self.line("env", "CANARY_VARIABLE")

    def line(self, *fields):
        self.lines.append(fields)

    def write_list(self, tier, path=None):
        """Writes the list, by default in the project, and returns its path."""
        path = path or self.project / "canaries"
        path.write_text("".join("\t".join(map(str, fields)) + "\n" for fields in [*self.lines, ("tier", tier)]), encoding="utf-8")
        return path

    def plant(self):
        for step in (self.files, self.descriptor, self.keys, self.unix_sockets, self.process, self.system_v, self.queue, self.facts):
            step()
        return self

    def file(self, attack, path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(f"{self.token}\n", encoding="ascii")
        self.test.addCleanup(path.unlink, missing_ok=True)
        self.line("file", attack, os.path.normpath(path))

    def files(self):
        for attack, directory in {**HOME_FILES, **OTHER_FILES}.items():
            self.file(attack, self.home / directory / self.token)
        self.file("files-home", self.home / "generated")
        self.line("generated", os.path.normpath(self.home / "generated"))
        (self.home / ".claude/plugins/one/.git").mkdir(parents=True)
        (self.home / ".cargo/bin").mkdir(parents=True)
        self.line("toolchain", self.home / ".cargo/bin")
        subprocess.run(["git", "init", "-q", self.project], env=self.test.env, check=True)
        for name, kind in ((".git", "pin"), (".git/hooks", "directory"), (".git/config", "file")):
            self.line("place", self.project / name, kind)
        for directory in (".", ".config", "other"):
            self.line("write", os.path.normpath(self.home / directory / f"{self.token}.made"))
        self.line("absent", "files-system", "/etc/shadow")
        self.line("absent", "files-others", "/etc/fstab")

    def descriptor(self):
        file = os.open(self.home, os.O_RDONLY)
        self.test.addCleanup(os.close, file)
        self.descriptors.append(file)
        self.line("fd", file)

    def keys(self):
        system(KEYCTL, JOIN_SESSION_KEYRING, 0)
        system(KEYCTL, LINK, USER_RING, SESSION_RING)
        for name, ring in (("session", SESSION_RING), ("user", USER_RING)):
            key = system(ADD_KEY, ctypes.c_char_p(b"user"), ctypes.c_char_p(self.token.encode()), ctypes.c_char_p(self.token.encode()),
                         len(self.token), ring)
            system(KEYCTL, SET_PERMISSION, key, 0x3F3F0000)
            self.test.addCleanup(system, KEYCTL, INVALIDATE, key)
            self.line("key", name, key)

    def unix_sockets(self):
        for kind, name, sort in (("abstract", f"\0{self.token}", socket.SOCK_STREAM), ("abstract-datagram", f"\0{self.token}-d", socket.SOCK_DGRAM),
                                 ("unix", f"/tmp/{self.token[:40]}", socket.SOCK_STREAM), ("unix", f"{self.home}/s", socket.SOCK_STREAM)):
            listener = socket.socket(socket.AF_UNIX, sort)
            self.test.addCleanup(listener.close)
            listener.bind(name)
            if name[0] == "/":
                self.test.addCleanup(os.unlink, name)
            if sort == socket.SOCK_STREAM:
                listener.listen()
            self.line(kind, name.lstrip("\0"))

    def services(self):
        """Serves TCP and UDP on the loopback and on an address of the host, and connects to one
        more port all the time."""
        selector = selectors.DefaultSelector()
        places = [("loopback", "127.0.0.1"), ("loopback", "::1"), *(("host", address) for address in host_addresses()[:2])]
        for where, address in places:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            for kind, sort in (("tcp", socket.SOCK_STREAM), ("udp", socket.SOCK_DGRAM)):
                server = socket.socket(family, sort)
                self.test.addCleanup(server.close)
                server.bind((address, 0))
                if kind == "tcp":
                    server.listen(64)
                selector.register(server, selectors.EVENT_READ, kind)
                self.line(kind, where, address, server.getsockname()[1])
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.line("incoming", port)
        ours, theirs = socket.socketpair()
        selector.register(theirs, selectors.EVENT_READ, "end")
        thread = threading.Thread(target=self.serve, args=(selector, [(address, port) for _, address in places]))
        thread.start()
        for action in (theirs.close, ours.close, selector.close, thread.join, ours.shutdown):  # last first
            self.test.addCleanup(action, *([socket.SHUT_WR] if action == ours.shutdown else []))

    def serve(self, selector, addresses):
        while True:
            for address in addresses:
                with contextlib.suppress(OSError):
                    socket.create_connection(address, 1).close()
            for key, _ in selector.select(0.02):
                if key.data == "end":
                    return
                if key.data == "tcp":
                    connection, _ = key.fileobj.accept()
                    connection.sendall(self.token.encode())
                    connection.close()
                else:
                    _, sender = key.fileobj.recvfrom(100)
                    key.fileobj.sendto(self.token.encode(), sender)

    def process(self):
        process = subprocess.Popen([self.token, "60"], executable="/usr/bin/sleep", env={"CANARY": self.token}, stdin=subprocess.DEVNULL)
        self.test.addCleanup(process.wait)
        self.test.addCleanup(process.kill)
        self.line("pid", process.pid)

    def system_v(self):
        key = secrets.randbelow(2**30) + 1
        flags = IPC_CREAT | IPC_EXCL | 0o600
        memory = checked(LIBC.shmget(key, 4096, flags))
        self.test.addCleanup(LIBC.shmctl, memory, IPC_RMID, None)
        address = checked(LIBC.shmat(memory, None, 0))
        ctypes.memmove(address, self.token.encode(), len(self.token))
        LIBC.shmdt(ctypes.c_void_p(address))
        semaphores = checked(LIBC.semget(key, 1, flags))
        self.test.addCleanup(LIBC.semctl, semaphores, 0, IPC_RMID)
        messages = checked(LIBC.msgget(key, flags))
        self.test.addCleanup(LIBC.msgctl, messages, IPC_RMID, None)
        for kind, number in (("shm", memory), ("sem", semaphores), ("msg", messages)):
            self.line(f"sysv-{kind}", number, key)

    def queue(self):
        name = f"/{self.token}".encode()
        queue = checked(LIBC.mq_open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600, None))
        os.close(queue)
        self.test.addCleanup(LIBC.mq_unlink, name)
        self.line("mqueue", name.decode())

    def facts(self):
        self.line("hostname", platform.node())
        self.line("user", "daemon")
        self.line("mount-source", "sysfs")
        for kind, path in (("machine-id", "/etc/machine-id"), ("boot-id", "/proc/sys/kernel/random/boot_id")):
            if os.path.exists(path):
                self.line(kind, pathlib.Path(path).read_text(encoding="ascii").strip())
        for path in pathlib.Path("/sys/class/net").glob("*/address"):
            if path.parent.name != "lo":
                self.line("mac", path.read_text(encoding="ascii").strip())


def host_addresses():
    shown = subprocess.run(["ip", "-json", "address"], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = [entry["local"] for interface in json.loads(shown) for entry in interface.get("addr_info", [])]
    return [a for a in found if not ipaddress.ip_address(a).is_loopback and not ipaddress.ip_address(a).is_link_local]


def parse(output):
    """Returns the output of the attack program as {attack: (verdict, why)}. It must be complete
    and in order."""
    rows = [line.split("\t") for line in output.splitlines()]
    assert rows and rows[-1] == ["end", str(len(ATTACKS)), "-"], output[-300:]
    assert [row[0] for row in rows[:-1]] == ATTACKS, [row[0] for row in rows]
    return {name: (verdict, why) for name, verdict, why in rows[:-1]}


def with_verdict(results, verdict):
    return {name for name, (found, _) in results.items() if found == verdict}
