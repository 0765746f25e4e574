// SPDX-License-Identifier: MIT
// Writes a file of git's configuration as git does.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <sys/types.h>

// Creates the lock file that git uses for directory/name. Waits a short time for another writer.
// The file is read after that, so no change of another writer is lost. Returns -1 with errno on
// failure.
int git_config_lock(int directory, const char *name);
// Replaces directory/name by its lock file, with this text; NULL: only removes the lock. Follows no
// link. Returns false with errno on failure.
bool git_config_write(int directory, const char *name, int lock, const char *text, mode_t mode);
// Puts a new file at directory/name, which exists already only if `replace`. Does not wait for a
// lock: a box can hold git's lock. A process that has the old file open or mapped does not reach
// the new one.
bool file_renew(int directory, const char *name, const char *text, mode_t mode, bool replace);
// Puts a new file at directory/name, which exists, and the old one beside it, in one step: the name
// is never missing. Returns the name of the old one, NULL with errno on failure.
const char *file_exchange(struct arena *arena, int directory, const char *name, const char *text,
			  mode_t mode);
// Puts a copy of a file at its place, for the same reason.
void file_detach(struct arena *arena, const char *path);
