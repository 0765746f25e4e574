# SPDX-License-Identifier: MIT
"""An older kernel: a seccomp filter that makes system calls fail, for a program that a test
starts and for its children."""
import ctypes
import errno
import platform
import struct

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000

# The same numbers on every architecture since Linux 5.0.
CALLS = {
    "open_tree": 428, "move_mount": 429,
    "pidfd_open": 434, "clone3": 435, "close_range": 436, "openat2": 437, "pidfd_getfd": 438, "faccessat2": 439, "mount_setattr": 442,
    "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446, "memfd_secret": 447, "process_mrelease": 448,
}
LANDLOCK = ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
# Attacks that only Landlock's scopes block when the box has the host's network.
ONLY_LANDLOCK = {"sockets-abstract", "sockets-abstract-datagram"}
# Calls that a kernel lacks, by its version.
SINCE = {"5.10": (*LANDLOCK, "mount_setattr", "memfd_secret", "process_mrelease")}


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def without(*calls, error=errno.ENOSYS):
    """Returns a preexec_fn after which these calls fail."""
    code = struct.pack("<HBBI", LOAD, 0, 0, 0)
    for name in calls:
        code += struct.pack("<HBBI", EQUAL, 0, 1, CALLS[name]) + struct.pack("<HBBI", RETURN, 0, 0, ERRNO | error)
    code += struct.pack("<HBBI", RETURN, 0, 0, ALLOW)
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)

    def apply():
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)):
            raise OSError(ctypes.get_errno(), "cannot load the seccomp filter")

    return apply


def landlock_version():
    """Returns the Landlock ABI of this kernel, 0 without Landlock."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, libc.syscall(CALLS["landlock_create_ruleset"], None, 0, 1))


def leaks(tier):
    """Returns the attacks that no box can block on this kernel; the audit warns of them."""
    return ONLY_LANDLOCK if tier == "full" and landlock_version() < 6 else set()


def release():
    """Returns this kernel's version as two numbers."""
    return tuple(int(part) for part in platform.release().split(".")[:2])
