# SPDX-License-Identifier: MIT
"""The DNS relay is confined: an empty root, no capabilities, few descriptors, and a seccomp filter that allows a few calls."""
import os
import pathlib
import platform
import re
import signal
import socket
import struct
import subprocess
import time
import unittest

from unit.relay import RELAY, RelayTest, code_of
from unit.test_seccomp import LAST_CALL, MACHINES, OTHERS, X32, run

GENERATOR = os.path.join(os.environ["STAGE"], "relay-seccomp-generator")
ALLOW, KILL = 0x7FFF0000, 0x80000000
# Calls by number. `socket`, `setsockopt` and `getsockopt` are allowed with certain arguments only.
CALLS = {
    "x86_64": {"close": 3, "connect": 42, "sendto": 44, "recvfrom": 45, "shutdown": 48, "getpeername": 52, "restart_syscall": 219,
               "clock_gettime": 228, "exit_group": 231, "epoll_wait": 232, "epoll_ctl": 233, "epoll_pwait": 281, "accept4": 288},
    "aarch64": {"close": 57, "connect": 203, "sendto": 206, "recvfrom": 207, "shutdown": 210, "getpeername": 205, "restart_syscall": 128,
                "clock_gettime": 113, "exit_group": 94, "epoll_ctl": 21, "epoll_pwait": 22, "accept4": 242},
}
SOCKETS = {"x86_64": (41, 54, 55), "aarch64": (198, 208, 209)}
FLAGS = socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
LOAD = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
code = ctypes.create_string_buffer(bytes.fromhex(sys.argv[1]), len(sys.argv[1]) // 2)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
program = Program(len(code) // 8, ctypes.addressof(code))
libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
if libc.prctl(22, 2, ctypes.byref(program), 0, 0):  # PR_SET_SECCOMP
    os._exit(1)
libc.socket(2, 2, 0)
if sys.argv[2] == "open":
    libc.open(b"/", 0)
os._exit(0)
"""


class Calls(unittest.TestCase):
    """The program of the seccomp filter, interpreted for every call."""

    name = platform.machine()

    def setUp(self):
        source = subprocess.run([GENERATOR, self.name], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.code = bytes(map(int, re.findall(r"\b(\d+),", source)))
        self.program = list(struct.iter_unpack("<HBBI", self.code))

    def is_allowed(self, number, *arguments, machine=None):
        action = run(self.program, machine or MACHINES[self.name], number, [*arguments, *[0] * (6 - len(arguments))])[0]
        self.assertIn(action, (ALLOW, KILL))
        return action == ALLOW

    def test_calls(self):
        wanted = set(CALLS[self.name].values())
        self.assertEqual({number for number in range(LAST_CALL) if self.is_allowed(number)}, wanted)
        for number in wanted:
            self.assertFalse(self.is_allowed(X32 + number))
            for machine in (*OTHERS, *(set(MACHINES.values()) - {MACHINES[self.name]})):
                self.assertFalse(self.is_allowed(number, machine=machine))

    def test_sockets(self):
        number, set_option, get_option = SOCKETS[self.name]
        for flags in (0, FLAGS):
            allowed = {(family, kind, protocol) for family in range(50) for kind in range(1, 11) for protocol in (0, 1, 6, 17, 132, 262)
                       if self.is_allowed(number, family, kind | flags, protocol)}
            self.assertEqual(allowed, {(family, kind, 0) for family in (socket.AF_INET, socket.AF_INET6)
                                       for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)})
        pairs = [(level, option) for level in range(300) for option in range(80)]
        self.assertEqual([pair for pair in pairs if self.is_allowed(set_option, 3, *pair)], [(socket.IPPROTO_TCP, socket.TCP_NODELAY)])
        self.assertEqual([pair for pair in pairs if self.is_allowed(get_option, 3, *pair)], [(socket.SOL_SOCKET, socket.SO_ERROR)])

    def test_the_kernel_loads_it(self):
        if self.name != platform.machine():
            return
        for what, status in (("socket", 0), ("open", -signal.SIGSYS)):
            done = subprocess.run(["/usr/bin/python3", "-c", LOAD, self.code.hex(), what], check=False, timeout=20)
            self.assertEqual(done.returncode, status, what)


class ForAarch64(Calls):
    name = "aarch64"


class Confined(RelayTest):
    def test_process(self):
        self.stub(1)
        self.start(1)
        self.assertEqual(code_of(self.ask()[0]), 0)
        sanitized = b"libasan" in pathlib.Path(RELAY).read_bytes()
        self.assertEqual([self.process(name) for name in ("NoNewPrivs", "Seccomp", "CapEff", "CapPrm", "CapInh", "CapAmb")],
                         [1, 0 if sanitized else 2, 0, 0, 0, 0])
        limits = pathlib.Path(f"/proc/{self.relay.pid}/limits").read_text()
        self.assertLessEqual(int(re.search(r"Max open files +\d+ +(\d+)", limits)[1]), 1000)

    def test_relay_ends_without_a_supervisor(self):
        """The process that sends the resolvers has ended: the DNS relay must not use an old list for ever."""
        self.stub(1)
        self.start(1)
        children = pathlib.Path(f"/proc/{self.relay.pid}/task/{self.relay.pid}/children").read_text(encoding="ascii").split()
        self.assertEqual(len(children), 1)
        os.kill(int(children[0]), signal.SIGKILL)
        self.assertEqual(self.relay.wait(5), 1)
        self.relay.stdout.close()
        self.relay = None

    def test_each_new_list_arrives(self):
        """A file that is replaced, a link that points elsewhere, and a file that changes in place."""
        stubs = [self.stub(number) for number in (1, 2, 3)]
        self.start(1)
        self.ask()
        other = self.directory / "other.conf"
        other.write_text(f"nameserver {self.address_of(2)}\n")
        link = self.directory / "link"
        link.symlink_to(other)
        link.rename(self.conf)
        self.asked(stubs[1])
        other.write_text(f"# in place\nnameserver {self.address_of(3)}\n")
        self.asked(stubs[2])

    def asked(self, stub):
        end = time.monotonic() + 5
        while not stub.seen and time.monotonic() < end:
            self.ask()
            time.sleep(0.1)
        self.assertTrue(stub.seen)


if __name__ == "__main__":
    unittest.main()
