// SPDX-License-Identifier: MIT
// Which paths git tracks, by its index.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "plan/guard/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The content of an index.
struct tracked {
	unsigned char *bytes; // NULL: there is none
	size_t size;
	struct file_id id; // of the file, with its time; inode 0: there is none
	int64_t change_ns;
};

// Reads the index of a git directory. Without one, git tracks nothing.
struct tracked tracked_open(const char *git_directory);
// Stores for each path, relative to the worktree, whether git tracks it or a file below it. Returns
// false if the index cannot be understood; all paths count as tracked then.
bool tracked_find(const struct tracked *tracked, const char *const *paths, size_t count,
		  bool *ret_tracked);
// Returns whether git tracks exactly this path.
bool tracked_has(const struct tracked *tracked, const char *path);
// What an index says about the content of a path.
enum tracked_content {
	TRACKED_SAME,    // it has this content; without a file: it does not have the path
	TRACKED_DIFFERS, // it has another content, or none
	TRACKED_UNKNOWN, // it cannot be read, or is not that of a repository with SHA-1
};
// Compares the index with the content of a file, of which `hex` is the id as digest_blob() returns
// it; NULL: there is no file. `link`: it is a symbolic link.
enum tracked_content tracked_compare(const struct tracked *tracked, const char *path,
				     const char *hex, bool link);
// Returns whether an entry is wanted. Returns true also if the index cannot be understood.
bool tracked_any(const struct tracked *tracked, bool (*wanted)(const char *path, uint32_t mode));
// Calls `handle` for each entry. Returns false if the index cannot be understood.
bool tracked_each(const struct tracked *tracked, git_index_handler handle, void *context);
void tracked_close(struct tracked *tracked);
