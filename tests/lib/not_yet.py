# SPDX-License-Identifier: MIT
"""Attacks of --prove that no box holds yet: expected to leak, for now. To be emptied."""
import os

# In every tier.
EVERYWHERE = {
    "keys-session", "keys-keyrings", "keys-link", "keys-request", "keys-add", "keys-list",
    "network-vsock", "network-netlink", "network-families",
    "memory-userfaultfd", "memory-perf",
    "terminal-tiocsti", "terminal-tiocsti-wide", "terminal-tiocsti-32",
    "kernel-filter", "kernel-filter-init", "kernel-32-bit", "kernel-io-uring", "kernel-core-dumps",
    "identity-host-name",
}
AS_A_USER = {"kernel-user-namespace", "kernel-clone-namespace", "kernel-clone3-namespace"}
IN_FULL = {"sockets-abstract", "sockets-abstract-datagram"}


def not_yet(tier):
    return EVERYWHERE | (AS_A_USER if os.getuid() else set()) | (IN_FULL if tier == "full" else set())
