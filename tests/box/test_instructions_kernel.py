# SPDX-License-Identifier: MIT
"""What the instructions for Claude say about the kernel is true in the box: namespaces, disabled calls, debuggers."""
import json
import os
import pathlib
import unittest

from lib.instructions import InstructionsTest
from lib.other_host import OtherHost

AS_ROOT = True
RULES = json.loads((pathlib.Path(os.environ["STAGE"]) / "seccomp_rules.json").read_text())
CALLS = {rule["call"]: rule["number"] for rule in RULES
         if rule["call"] in ("io_uring_setup", "bpf", "perf_event_open", "add_key", "keyctl", "request_key") and not rule["conditions"]}

# Prints what is not disabled. The arguments of the calls are those of the smallest useful call, or of one that only reads.
TRIES = r"""
import ctypes, json, socket, sys
libc = ctypes.CDLL(None)
buffer = ctypes.create_string_buffer(256)
arguments = {"io_uring_setup": (1, buffer), "bpf": (11, buffer, 128), "perf_event_open": (buffer, 0, -1, -1, 0), "keyctl": (0, -3, 0),
             "add_key": (b"user", b"x", b"y", 1, -3), "request_key": (b"user", b"x", 0, 0)}
for name, number in json.loads(sys.argv[1]).items():
    errors = ctypes.CDLL(None, use_errno=True)
    result = errors.syscall(number, *arguments[name])
    if result >= 0 or ctypes.get_errno() not in (1, 38):  # EPERM, ENOSYS
        print(name, result, ctypes.get_errno())
for name, family, kind, protocol in (("raw", 2, 3, 1), ("raw 6", 10, 3, 58), ("packet", 17, 3, 3), ("packet datagram", 17, 2, 3), ("AF_ALG", 38, 5, 0),
                                     ("AF_VSOCK", 40, 1, 0), ("AF_BLUETOOTH", 31, 3, 1), ("AF_CAN", 29, 3, 1), ("AF_XDP", 44, 3, 0)):
    try:
        socket.socket(family, kind, protocol).close()
        print(name)
    except OSError:
        pass
for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6):
    socket.socket(family).close()
"""
DEBUG = ("gdb -q -batch -ex starti -ex 'print 6*7' -ex continue /bin/true 2>&1 | grep -cE '^Program stopped|= 42$|exited normally'; "
         "strace -f -o /tmp/log sh -c 'cat /dev/null; true' && grep -c 'execve(\"[^\"]*/cat\"' /tmp/log")
MOUNT = "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /tmp && echo mounted' 2>/dev/null"
BWRAP = "bwrap --ro-bind / / --proc /proc --dev /dev --unshare-all echo bubblewrap 2>/dev/null"


class Kernel(InstructionsTest):
    def tries(self):
        self.assertEqual(len(CALLS), 6, CALLS)
        return self.told(f'python3 -c "$1" "$2"; {MOUNT}; {BWRAP}; {DEBUG}', TRIES, json.dumps(CALLS))

    def test_an_ordinary_box(self):
        told, output = self.tries()
        self.assertTold(told, "You cannot create user namespaces or mounts", "io_uring, bpf, perf, kernel keyrings, raw sockets and unusual",
                        "Debuggers and strace work on processes that they start.")
        self.assertNotTold(told, "podman, if it is installed", "You can create user namespaces")
        self.assertEqual(output, "3\n1\n")
        self.assertEqual(self.box("ls -d /run/docker.sock /var/run/docker.sock 2>/dev/null; mount -t tmpfs none /tmp 2>/dev/null && echo mounted; true"), "")

    def nested(self):
        """Chooses a nested box. Returns whether there can be one: root has none."""
        self.profile(nested=True)
        if os.getuid() == 0:
            self.assertIn("refused for root", self.refused())
        return os.getuid() != 0

    def test_a_nested_box(self):
        if not self.nested():
            return
        told, output = self.tries()
        self.assertTold(told, "You can create user namespaces and mounts", "io_uring, bpf, perf, kernel keyrings and unusual socket families",
                        "Debuggers and strace work on processes that they start.")
        self.assertNotTold(told, "You cannot create", "raw sockets")
        self.assertEqual(output, "mounted\nbubblewrap\n3\n1\n")
        # This is why the sentence does not name raw sockets, and shows that the tries can fail.
        self.assertEqual(self.box('unshare --user --map-root-user --net python3 -c "$1" "{}"', TRIES), "raw\nraw 6\n")

    def test_images_of_podman_are_in_memory(self):
        if not self.nested():
            return
        host = OtherHost(self, {"/etc/containers/policy.json": "{}"})
        told, output = self.told("cd ~/.local/share/containers; stat -f -c %T .; ls -A; echo x >image", host=host)
        self.assertTold(told, "podman, if it is installed, works with crun.", "Images are stored in memory and are lost after this session.")
        self.assertEqual(output, "tmpfs\n")
        self.assertEqual(self.told("ls -A ~/.local/share/containers", host=host)[1], "")


if __name__ == "__main__":
    unittest.main()
