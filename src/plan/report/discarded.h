// SPDX-License-Identifier: MIT
// Files in memory that end with the box: what of them the user may miss.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A file that was deleted with the box.
struct discarded_file {
	const char *path;
	uint64_t size;
};

// What a line about them names: a file, or a directory with more than one.
struct discarded_name {
	const char *path;      // of a directory: with a slash at its end
	size_t count;          // of files
	const char *directory; // at the top that has it, NULL: none
};

struct discarded {
	VEC(struct discarded_file) files; // the newest first, not all
	VEC(struct discarded_name) names; // files at the top first, not all
	size_t count;                     // of all
	uint64_t size;                    // of all
	bool incomplete;                  // there are more
};

struct discarded_row {
	const char *name; // of a file or directory; '*' at its end stands for any part
	bool at_top;      // directly in the home or in a directory for temporary files
	const char *why;
};
extern const struct discarded_row discarded_table[];
extern const size_t discarded_count;

// Returns whether a program makes a file or directory of this name again when it needs it, or it is
// of no use after the box. `depth` is the number of directories above it.
bool discarded_is_cache(const char *name, size_t depth);
