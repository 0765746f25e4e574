// SPDX-License-Identifier: MIT
// Reading files and following links without being led astray.
#pragma once

#include "base/arena.h"
#include "base/file.h"

#include <stddef.h>

enum { READ_FOLLOW = 1 };

// Follows every link of a path, component by component.
struct followed file_follow(struct arena *arena, const char *path);
// The text of a small regular file. NULL when it is missing, too long, no regular file or not text. Never blocks.
// Without READ_FOLLOW, no part of the path may be a link.
const char *file_read(struct arena *arena, const char *path, size_t limit, int flags);
const char *file_read_at(struct arena *arena, int directory, const char *name, size_t limit);
// Opens, close-on-exec, what no link leads to; -1 with errno.
int file_open(int directory, const char *path, int flags);
