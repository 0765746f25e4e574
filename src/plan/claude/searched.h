// SPDX-License-Identifier: MIT
// The list of Claude files that were searched and contain nothing like a secret, so that the next
// start does not search them again.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// More files are searched at each start.
enum { SEARCHED_MAX = 20 * 1000 };

// Identifies the content of a file: each change of the content changes the time of change, which no
// program can set.
struct searched_file {
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	uint64_t modified_ns;
	uint64_t changed_ns;
	uint64_t judged_as; // searched_name() of its name, which decides how the content is judged
};

struct searched {
	struct searched_file program; // the claudebox that searched
	struct searched_file *earlier;
	size_t earlier_count;
	bool *seen;      // the files of `earlier` that this start has met
	uint32_t *slots; // hash table of numbers in `earlier`, plus 1; 0: empty
	VEC(struct searched_file) added;
};

// The largest size of the list.
size_t searched_size_max(void);
// Returns a digest of a file's name.
uint64_t searched_name(const char *name);
// Reads a list. One of another program or format, a damaged one and NULL count as empty.
void searched_read(struct searched *searched, struct arena *arena, const char *bytes, size_t length,
		   const struct searched_file *program);
// Returns whether the list has this file.
bool searched_has(struct searched *searched, const struct searched_file *file);
// Adds a file that the list does not have.
void searched_add(struct searched *searched, struct arena *arena, const struct searched_file *file);
// Returns the content of the new list, NULL: it has not changed. If there are too many files,
// those that this start has not met are dropped.
const char *searched_write(const struct searched *searched, struct arena *arena,
			   size_t *ret_length);
