// SPDX-License-Identifier: MIT
// Locks by flock(2) that every box of an instance or of a shared home holds.
#pragma once

// Opens a lock file, and creates it if it is missing; the umask does not count. Returns -1 with
// errno.
int lock_open(int directory, const char *name);
// Takes a lock exclusively, so that no box can start that uses it. Creates the file if it is
// missing. Returns -1 with errno; EWOULDBLOCK: a box holds it.
int lock_exclusively(int directory, const char *name);
