// SPDX-License-Identifier: MIT
// Which paths git tracks, by its index.
#pragma once

#include "base/arena.h"
#include "plan/guard/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The content of an index.
struct tracked {
	unsigned char *bytes; // NULL: there is none
	size_t size;
};

// Reads the index of a git directory. Without one, git tracks nothing.
struct tracked tracked_open(const char *git_directory);
// Stores for each path, relative to the worktree, whether git tracks it or a file below it. Returns
// false if the index cannot be understood; all paths count as tracked then.
bool tracked_find(const struct tracked *tracked, const char *const *paths, size_t count,
		  bool *ret_tracked);
// Returns whether git tracks exactly this path.
bool tracked_has(const struct tracked *tracked, const char *path);
// Passes all entries to a handler. Returns false if the index cannot be understood.
bool tracked_each(const struct tracked *tracked, git_index_handler handle, void *context);
// Returns whether an entry is wanted. Returns true also if the index cannot be understood.
bool tracked_any(const struct tracked *tracked, bool (*wanted)(const char *path, uint32_t mode));
void tracked_close(struct tracked *tracked);
