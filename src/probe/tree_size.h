// SPDX-License-Identifier: MIT
// Measures directory trees with untrusted content.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tree_size {
	uint64_t bytes;   // on disk
	uint64_t entries; // that were counted
	uint64_t directories;
	bool (*skips)(const char *name); // set by the caller: names that do not count, or NULL
	bool incomplete;                 // a part could not be counted: `bytes` is a lower bound
	bool started;
	dev_t device; // of the first directory
};

// Adds the size of a directory and everything below it. Follows no links, enters no other file
// system, and stops at a depth of 64 and at `entries_max` entries. A missing directory is empty.
void tree_size_add(struct tree_size *size, int parent, const char *name, uint64_t entries_max);
