# SPDX-License-Identifier: MIT
"""Functions for preexec_fn of subprocess: conditions under which a caller may start a program."""
import ctypes
import os
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
OPENAT2 = 437
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x00050000, 0x7FFF0000


def without_openat2(error):
    """Returns a function that makes openat2 fail, as on kernels before 5.6 (ENOSYS) and under some seccomp filters (EPERM)."""
    rules = [(0x20, 0, 0, 0), (0x15, 0, 1, OPENAT2), (0x06, 0, 0, SECCOMP_RET_ERRNO | error), (0x06, 0, 0, SECCOMP_RET_ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code)))

    def apply():
        LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) < 0:
            os._exit(99)
        _ = code  # keeps the buffer alive until here
    return apply


def closing(*descriptors):
    """Returns a function that closes these descriptors."""
    return lambda: [os.close(fd) for fd in descriptors]


def exchange(first, second):
    """Exchanges two paths in one step."""
    LIBC.renameat2(-100, os.fsencode(first), -100, os.fsencode(second), 2)
