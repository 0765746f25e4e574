# SPDX-License-Identifier: MIT
"""A box that is broken on purpose: a replacement for bwrap, first on PATH, changes its options and
then executes the real one.

A breakage is a few lines of Python that see `options` (bwrap's, a list), `environment` (the
agent's, NAME=value), `command` (init, its flags, the program), `canaries` (the list that the attack
program reads, a list of lists), `descriptors` (to keep open: {number: path}) and `outer` (the
environment of bwrap itself, a dict). claudebox itself has no support for it.
"""
import json
import os
import shutil
import subprocess

from lib.box import CLAUDEBOX
from lib.inet import InetTest

# claudebox searches bwrap for these words to find out what it supports: --ro-bind-fd --bind-fd
# --disable-userns
STAND_IN = """#!/usr/bin/python3 -I
# offers: {offers}
import ctypes, fcntl, os, signal, sys, time

OTHER_INIT = {other_init!r}
ARGUMENTS, ENVIRONMENT = 6, 4


def content(fd):
    try:
        return os.pread(fd, os.fstat(fd).st_size, 0)
    except OSError:  # bwrap's options are in a pipe
        with open(fd, "rb", closefd=False) as file:
            return file.read()


def words(fd):
    return [word.decode(errors="surrogateescape") for word in content(fd).split(b"\\0")[:-1]]


def replace(fd, texts):
    new = os.memfd_create("changed")
    os.write(new, b"".join(text.encode(errors="surrogateescape") + b"\\0" for text in texts))
    os.lseek(new, 0, os.SEEK_SET)
    os.dup2(new, fd, inheritable=True)
    os.close(new)


def drop(flag, count=0):
    # Removes every occurrence of an option with so many arguments.
    while flag in options:
        at = options.index(flag)
        del options[at:at + 1 + count]


def unscope():
    # Removes the flag of init that applies Landlock.
    command[1] = command[1].replace("s", "-").replace("u", "-")


def add(*more):
    # Adds options after all others, but before the root becomes read-only.
    at = options.index("--remount-ro")
    options[at:at] = more


def unmount_places():
    # Removes the mounts on protected places before the attacks start.
    places = [line[1] for line in canaries if line[0] == "place"]
    command[:1] = ["/usr/bin/python3", "-Ic", OTHER_INIT.replace(
        "child = ", "import time" + chr(10) + "while any(place in open('/proc/self/mountinfo').read() for place in %r):"
        " time.sleep(0.01)" % places + chr(10) + "child = ")]
    if os.fork():
        return
    os.closerange(0, 1024)
    while True:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{{pid}}/mountinfo") as mounts:
                    text = mounts.read()
            except OSError:
                continue
            if not all(f" {{place}} " in text for place in places):
                continue
            namespace = os.open(f"/proc/{{pid}}/ns/mnt", os.O_RDONLY)
            libc = ctypes.CDLL(None)
            user = fcntl.ioctl(namespace, 0xb701)  # NS_GET_USERNS
            libc.setns(user, 0)
            libc.setns(namespace, 0)
            for place in reversed(places):
                libc.umount2(place.encode(), 2)
            os._exit(0)
        time.sleep(0.005)


def stop_guard():
    # Stops the guard before the attacks start, and continues it after the one that creates places.
    def names():
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{{pid}}/comm") as comm, open(f"/proc/{{pid}}/stat") as stat:
                    yield int(pid), comm.read().strip(), int(stat.read().rpartition(")")[2].split()[1])
            except OSError:
                pass

    claudebox = os.getppid()
    guard = next(pid for pid, name, parent in names() if name == "claudebox-guard" and parent == claudebox)
    if os.fork():
        return
    os.closerange(0, 1024)
    while not any(name == "attack" for _, name, _ in names()):
        time.sleep(0.005)
    os.kill(guard, signal.SIGSTOP)
    project = next(line[1] for line in canaries if line[0] == "project")
    for expected in (True, False):
        while any(name.endswith(".places") for name in os.listdir(project)) != expected:
            time.sleep(0.001)
    os.kill(guard, signal.SIGCONT)
    os._exit(0)


options, environment, descriptors, outer = words(ARGUMENTS), words(ENVIRONMENT), {{}}, {{}}
command = sys.argv[sys.argv.index("--") + 1:]
at = options.index("/run/claudebox/canaries")
canaries = [line.split("\\t") for line in content(int(options[at - 1])).decode().splitlines()]
token = next(line[1] for line in canaries if line[0] == "token")
with open({log!r}, "w") as log:
    print(*("\\t".join(line) for line in canaries), sep="\\n", file=log)
exec({breakage!r})
replace(ARGUMENTS, options)
replace(ENVIRONMENT, environment)
for number, path in descriptors.items():
    fd = os.open(path, os.O_RDONLY)
    os.dup2(fd, number, inheritable=True)
    os.close(fd)
os.execve({bwrap!r}, ["bwrap", "--args", str(ARGUMENTS), "--", *command], outer)
"""

# A replacement for init with its protocol: closes no descriptors, creates no process group, and is
# dumpable.
OTHER_INIT = """
import os, socket, struct, sys
control = socket.socket(fileno=3)
control.set_inheritable(False)
environment = dict(entry.split(b"=", 1) for entry in os.pread(4, 1 << 20, 0).split(b"\\0") if entry)
READY, STARTED, ENDED = 0, 1, 4
control.send(struct.pack("ii", READY, 0))
control.recv(8)
child = os.fork()
if child == 0:
    control.send(struct.pack("ii", STARTED, 0))
    os.execve(sys.argv[2], sys.argv[2:], environment)
status = os.waitpid(child, 0)[1]
control.send(struct.pack("ii", ENDED, os.waitstatus_to_exitcode(status) & 255))
os._exit(0)
"""


class Broken:
    """Runs --prove for the project of a BoxTest with one breakage."""

    def __init__(self, test, breakage=""):
        self.test = test
        self.directory = test.scratch()
        self.log = self.directory / "canaries"
        with open(shutil.which("bwrap"), "rb") as file:
            known = file.read()
        offers = [word for word in ("--ro-bind-fd", "--disable-userns", "--seccomp", "--add-seccomp-fd") if word.encode() in known]
        script = STAND_IN.format(offers=" ".join(offers), log=str(self.log), bwrap=shutil.which("bwrap"),
                                 breakage=breakage, other_init=OTHER_INIT)
        (self.directory / "bwrap").write_text(script)
        (self.directory / "bwrap").chmod(0o755)

    def prove(self, *arguments, **options):
        """Returns the finished process and its JSON, or None if it printed none."""
        done = self.test.claudebox(*arguments, "--prove=json", env={"PATH": f"{self.directory}:{self.test.env['PATH']}",
                                                                    **options.pop("env", {})}, **options)
        return done, json.loads(done.stdout) if done.stdout else None

    def canaries(self):
        """Returns the list that the attack program read, as lists of fields."""
        return [line.split("\t") for line in self.log.read_text().splitlines()]


class WorldTest(InetTest):
    """Runs claudebox in a network of its own, in a project beside others and with secrets in the
    home."""

    def setUp(self):
        super().setUp()
        self.project = self.home / "work/project"
        for name in (".ssh", ".gnupg", ".aws", ".docker", ".config/gh", ".password-store", ".mozilla", ".local/share/fish", "work/project"):
            (self.home / name).mkdir(parents=True)
        (self.home / ".cargo/bin").mkdir(parents=True)
        (self.home / ".cargo/bin/tool").write_text("#!/bin/sh\n")
        subprocess.run(["git", "init", "-q", self.project], env=self.env, check=True)
        (self.project / ".envrc").write_text("")
        self.env["PATH"] = f"{self.home}/.cargo/bin:{self.env['PATH']}"
        self.runtime = self.scratch()
        self.env["XDG_RUNTIME_DIR"] = str(self.runtime)


class EnclosedTest(WorldTest):
    """The same in a PID namespace of its own, which contains the signals that leave a broken
    box."""

    def command(self, *arguments, cwd=None):
        user = [] if self.world.root else ["--user", f"--map-user={os.getuid()}", f"--map-group={os.getgid()}"]
        return [*self.world.enter(), "unshare", *user, "--pid", "--fork", "--kill-child", "--mount-proc", "env",
                f"--chdir={cwd or self.project}", CLAUDEBOX, *map(str, arguments)]


def verdicts(proof):
    return {row["name"]: row["verdict"] for row in proof["attacks"]}


def leaks(proof):
    return {row["name"]: row["why"] for row in proof["attacks"] if row["verdict"] == "leaked"}
