# SPDX-License-Identifier: MIT
"""The seccomp filter does what the table says, for every call and argument. --dry-run prints its
program, which is interpreted here. The programs for other machines come from the generator."""
import base64
import errno
import json
import os
import pathlib
import re
import struct
import subprocess
import unittest

from lib.box import BoxTest

STAGE = pathlib.Path(os.environ["STAGE"])
GENERATOR = STAGE / "seccomp-generator"
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "riscv64": 0xC00000F3}
OTHERS = (0x40000003, 0x40000028, 0xC0000015)  # i386, 32-bit ARM, and an unrelated architecture
X32 = 0x40000000
# read, write, close, mmap, futex, openat
FREQUENT = {"x86_64": (0, 1, 3, 9, 202, 257), "aarch64": (63, 64, 57, 222, 98, 56), "riscv64": (63, 64, 57, 222, 98, 56)}
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
MAX_INSTRUCTIONS = 450  # loading them takes time at each start
HIGH = 0xDEADBEEF << 32
LAST_CALL = 600
# Snapshot and subvolume: create, destroy, flags, default, search, lookup, send, received.
BTRFS = (0x50009401, 0x5000940E, 0x5000940F, 0x50009417, 0x50009418, 0x4008941A, 0x40089413, 0xD0009411, 0xD0009412, 0x40489426, 0xC0C89425,
         0x81F8943C, 0xD000943D, 0xD000943E, 0x5000943F, 0x9400, 0x94FF)


def run(program, machine, number, arguments):
    """Interprets classic BPF as the kernel does. Returns the action and the number of steps."""
    data = struct.pack("<IIQ6Q", number, machine, 0, *arguments)
    at = accumulator = steps = 0
    while True:
        code, if_true, if_false, operand = program[at]
        at += 1
        steps += 1
        if code == 0x20:  # load a word
            accumulator = struct.unpack_from("<I", data, operand)[0]
        elif code == 0x54:
            accumulator &= operand
        elif code == 0x06:
            return operand, steps
        elif code == 0x05:
            at += operand
        else:
            holds = {0x15: accumulator == operand, 0x25: accumulator > operand, 0x35: accumulator >= operand,
                     0x45: accumulator & operand != 0}[code]
            at += if_true if holds else if_false


def holds(rule, arguments):
    return all(arguments[at] & mask == value for at, mask, value in rule["conditions"])


class Program(BoxTest):
    name = os.uname().machine

    def setUp(self):
        super().setUp()
        self.machine = MACHINES[self.name]
        self.rules = self.read_rules()
        self.later = next(rule["number"] for rule in self.rules if rule["call"] == "later")
        self.programs = {name: self.program(name == "nested") for name in ("strict", "nested")}

    def read_rules(self):
        return json.loads((STAGE / "seccomp_rules.json").read_text())

    def program(self, nested):
        self.profile(nested=nested)
        script = self.claudebox("--dry-run", "--exec", "true").stdout
        text = re.search(r"8<&0\n(.*?)\nCLAUDEBOX_END\n", script, re.S)[1]
        return list(struct.iter_unpack("<HBBI", base64.b64decode(text)))

    def wanted(self, name, rules, number, arguments):
        if number >= self.later:
            return ERRNO | errno.ENOSYS
        for rule in rules:
            if not (name == "nested" and rule["unless_nested"]) and holds(rule, arguments):
                return ERRNO | rule["error"]
        return ALLOW

    def arguments(self, rules):
        """Yields argument lists that reach every condition of the rules, with and without high
        bits, which the kernel ignores."""
        values = {0, 1, 2, 3, 0xFFFFFFFF, 0x80000000, 0x80040000, 0x7FFFFFFF}
        for rule in rules:
            for _, mask, value in rule["conditions"]:
                values |= {value, value ^ 1, value | ~mask & 0xFFFFFFFF, value & (value - 1)}
            exact = [0] * 6
            for at, _, value in rule["conditions"]:
                exact[at] = value
            yield exact
            for at, _, _ in rule["conditions"]:  # all conditions but one
                yield [*exact[:at], 0xFFFFFFFF ^ exact[at], *exact[at + 1:]]
        for value in values:
            yield [value] * 6
            yield [value | HIGH] * 6
            for other in (0, 1, 9, 16, 31):
                yield [value, value, other, 0, 0, 0]
                yield [16 | HIGH, value, other | HIGH, 0, 0, 0]

    def test_every_call_gets_what_the_table_says(self):
        for number in range(LAST_CALL):
            rules = [rule for rule in self.rules if rule["number"] == number]
            for arguments in self.arguments(rules) if rules else ([0] * 6, [0xFFFFFFFF] * 6):
                for name, program in self.programs.items():
                    found = run(program, self.machine, number, arguments)[0]
                    self.assertEqual(found, self.wanted(name, rules, number, arguments), (name, number, arguments))

    def test_calls_after_the_newest_one_do_not_exist(self):
        """Up to the highest number. A debugger skips a call by the number -1, which passes."""
        for program in self.programs.values():
            self.assertEqual(run(program, self.machine, self.later - 1, [0] * 6)[0], ALLOW)
            for number in (self.later, self.later + 1, 512, 548, 1023, 0xFFFF, X32 - 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE):
                self.assertEqual(run(program, self.machine, number, [0] * 6)[0], ERRNO | errno.ENOSYS, number)
            self.assertEqual(run(program, self.machine, 0xFFFFFFFF, [0] * 6)[0], ALLOW)

    def test_other_machines_have_no_call_at_all(self):
        for program in self.programs.values():
            for number in range(LAST_CALL):
                if self.name == "x86_64":
                    self.assertEqual(run(program, self.machine, number | X32, [0] * 6)[0], ERRNO | errno.ENOSYS)
                for other in (*OTHERS, *MACHINES.values()):
                    if other != self.machine:
                        self.assertEqual(run(program, other, number, [0] * 6)[0], ERRNO | errno.ENOSYS)

    def test_what_must_be_allowed(self):
        """Listed by hand, to find mistakes in the table: threads, debuggers, terminals, sockets,
        a program's own seccomp filter."""
        calls = {rule["call"]: rule["number"] for rule in self.rules}
        threads = 0x3D0F00  # the flags that the C library and Go's runtime pass to clone
        for name, program in self.programs.items():
            for call, arguments in (("clone", [threads]), ("clone", [17]), ("unshare", [0x400]), ("ioctl", [0, 0x5401]),
                                    ("ioctl", [0, 0x5413]), ("personality", [0x40000]), ("personality", [0xFFFFFFFF]), ("personality", [0]),
                                    ("socket", [1, 1, 0]), ("socket", [2, 2, 17]), ("socket", [10, 1, 6]), ("socket", [16, 3, 0]),
                                    ("socketpair", [1, 1, 0]), ("ioctl", [3, 0x40049409]), ("ioctl", [3, 0x4020940D]), ("ioctl", [3, 0xC0189436]),
                                    ("fchmodat", [-100, 0, 0o2775]), ("fchmod", [3, 0o3777]), ("fchmod", [3, 0o2750]), ("openat", [-100, 0, 0, 0o4755]),
                                    ("openat", [-100, 0, 0x41, 0o755]), ("openat", [-100, 0, 0x410001, 0o600]), ("mkdirat", [-100, 0, 0o2755]),
                                    ("fcntl", [3, 1025]), ("fcntl", [3, 1026]), ("fcntl", [3, 8, 1]), ("sched_setaffinity", [0, 8]),
                                    ("sched_setscheduler", [2]), ("prlimit64", [0, 7]), ("setpriority", [0, 0, 5]), ("setpriority", [0, 2, 5]),
                                    ("ioprio_set", [1, 0, 0])):
                if calls[call] < 0:
                    continue
                arguments = [argument & 0xFFFFFFFFFFFFFFFF for argument in arguments]
                self.assertEqual(run(program, self.machine, calls[call], (arguments + [0] * 6)[:6])[0], ALLOW, (name, call, arguments))

    def test_what_must_be_refused(self):
        """Listed by hand, to find missing rows."""
        calls = {rule["call"]: rule["number"] for rule in self.rules}
        always = [("ioctl", [0, 0x5412]), ("ioctl", [0, 0x541C | HIGH]), ("keyctl", [11]), ("add_key", []), ("request_key", []), ("io_uring_setup", []),
                  ("bpf", []), ("perf_event_open", []), ("userfaultfd", []), ("kexec_load", []), ("init_module", []), ("finit_module", []),
                  ("open_by_handle_at", []), ("syslog", []), ("reboot", []), ("personality", [0x400000]), ("personality", [0x80400000])]
        always += [("socket", [family, 3, 0]) for family in (0, 3, 9, 15, 17, 29, 30, 38, 40 | HIGH, 44, 45, 63)]  # packet, CAN, TIPC, ALG, vsock, XDP …
        always += [("socket", [16, 3, protocol]) for protocol in (4, 6, 9, 12, 15, 16, 21)]
        always += [("ioctl", [3, request]) for request in BTRFS] + [("ioctl", [3, request]) for request in (0xC0506617, 0xC0406618, 0x541D)]
        always += [("fcntl", [3, 1024, 0]), ("fcntl", [3, 1040 | HIGH]), ("sched_setscheduler", [1]), ("sched_setparam", [1 | HIGH]), ("sched_setattr", [1]),
                   ("sched_setaffinity", [1]), ("prlimit64", [1, 7, 1 << 32]), ("setpriority", [0, 1, 19]), ("setpriority", [1, 0, 19]),
                   ("setpriority", [2, 0, 19]), ("ioprio_set", [1, 1]), ("ioprio_set", [2, 0]), ("ioprio_set", [3, 1000])]
        strict = [(call, [0o4755] * 6) for call in ("chmod", "fchmod", "fchmodat", "fchmodat2", "creat", "mkdir", "mkdirat", "mknod", "mknodat")]
        strict += [(call, [mode] * 6) for call in ("chmod", "fchmod", "fchmodat", "fchmodat2") for mode in (0o2755, 0o2711, 0o2555, 0o2001 | HIGH)]
        strict += [("openat", [-100 & 0xFFFFFFFF, 0, flags, mode]) for flags in (0x41, 0x410001) for mode in (0o4755, 0o2755, 0o6755 | HIGH)]
        strict += [("open", [0, 0x41, 0o2755]), ("creat", [0, 0o2755]), ("mknodat", [0, 0, 0o102755]), ("openat2", [])]
        strict += [("unshare", [flag]) for flag in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)]
        strict += [("clone", [0x10000011]), ("clone3", []), ("setns", []), ("mount", []), ("umount2", []), ("pivot_root", []), ("chroot", []),
                   ("fsopen", []), ("move_mount", []), ("open_tree", []), ("open_tree_attr", []), ("mount_setattr", [])]
        for name, wanted in (("strict", always + strict), ("nested", always)):
            for call, arguments in wanted:
                if calls[call] < 0:
                    continue  # this machine has only the call with "at"
                found = run(self.programs[name], self.machine, calls[call], (arguments + [0] * 6)[:6])[0]
                self.assertEqual(found & 0xFFFF0000, ERRNO, (name, call, arguments))

    def test_what_a_nested_box_never_has(self):
        dropped = {rule["call"] for rule in self.rules if rule["unless_nested"]}
        self.assertEqual(dropped & {"ioctl", "keyctl", "add_key", "request_key", "io_uring_setup", "bpf", "perf_event_open", "socket",
                                    "userfaultfd", "open_by_handle_at", "init_module", "kexec_load"}, set())
        self.assertLessEqual({"mount", "unshare", "clone", "setns", "pivot_root", "clone3"}, dropped)

    def test_it_is_small_and_fast(self):
        for name, program in self.programs.items():
            self.assertLess(len(program), MAX_INSTRUCTIONS, name)
            for number in FREQUENT[self.name]:
                self.assertLess(run(program, self.machine, number, [0] * 6)[1], 30, (name, number))

    def test_each_rule_has_a_reason(self):
        self.assertEqual([rule["call"] for rule in self.rules if len(rule["reason"]) < 10], [])
        self.assertEqual({rule["error"] for rule in self.rules}, {errno.EPERM, errno.ENOSYS})


class Generated(Program):
    """The program as a build for this machine contains it."""

    def generate(self, *arguments):
        try:
            return subprocess.run([GENERATOR, self.name, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout
        except OSError as error:
            return self.skipTest(f"the generator cannot run on this machine: {error}")

    def read_rules(self):
        return json.loads(self.generate("--list"))

    def program(self, nested):
        text = re.search(rf"{'nested' if nested else 'strict'}\[\] = {{(.*?)}};", self.generate(), re.S)[1]
        return list(struct.iter_unpack("<HBBI", bytes(int(number) for number in text.split(",")[:-1])))


class ForAarch64(Generated):
    name = "aarch64"


class ForRiscv64(Generated):
    name = "riscv64"


class ForX86(Generated):
    name = "x86_64"


del Generated  # only its subclasses are tests

if __name__ == "__main__":
    unittest.main()
