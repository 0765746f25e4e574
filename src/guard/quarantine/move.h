// SPDX-License-Identifier: MIT
// Moves files and directories with untrusted content, also between file systems.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Moves a file, a link or a directory to a name that is free. Follows no link. On another file
// system it is copied and then removed; sockets and devices in it are left out, because they hold
// nothing. Returns false with errno; then the source is as it was, or the target is complete.
bool move_entry(int from_directory, const char *from, int to_directory, const char *to,
		struct arena *arena);
