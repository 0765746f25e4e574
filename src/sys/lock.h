// SPDX-License-Identifier: MIT
// Locks by flock(2) that every box of an instance or of a shared home holds.
#pragma once

#include <stdbool.h>

// Opens a lock file, and creates it if it is missing; the umask does not count. Returns -1 with
// errno.
int lock_open(int directory, const char *name);
// Takes a lock exclusively, so that no box can start that uses it. Creates the file if it is
// missing. Returns -1 with errno; EWOULDBLOCK: a box holds it.
int lock_exclusively(int directory, const char *name);
// Returns whether a process holds a lock. Takes it for a moment: a start at that moment waits.
bool lock_is_held(int directory, const char *name);
