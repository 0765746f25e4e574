// SPDX-License-Identifier: MIT
// Directory listings.
#pragma once

#include "base/arena.h"

// Returns the names in a directory, without "." and "..", in no particular order. Follows no
// symbolic link. Returns no names when the directory cannot be opened.
strings list_directory(struct arena *arena, int parent, const char *path);
