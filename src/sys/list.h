// SPDX-License-Identifier: MIT
// Directory listings.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Returns the names in a directory, without "." and "..", in no particular order. Follows no
// symbolic link. Returns no names when the directory cannot be opened.
strings list_directory(struct arena *arena, int parent, const char *path);
// Returns at most `max` of the names.
strings list_directory_up_to(struct arena *arena, int parent, const char *path, size_t max);
// Returns whether a directory has no file, also not in the directories below it. A tree that is
// large, deep or cannot be read counts as one with a file.
bool directory_has_no_file(int parent, const char *path);
