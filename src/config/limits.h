// SPDX-License-Identifier: MIT
// The limits of a box (memory, processes, processor time): their names, ranges and texts.
#pragma once

#include "base/arena.h"

// The name of a limit is its key in a profile. For those that a cgroup sets it is also the name of
// the kernel's controller.
enum limit {
	LIMIT_MEMORY, // bytes
	LIMIT_PIDS,   // processes and threads
	LIMIT_CPU,    // percent of one processor
	LIMIT_COUNT,  // of those that a cgroup sets
	// claudebox warns about this one.
	LIMIT_HOME = LIMIT_COUNT, // bytes
	LIMIT_SNAPSHOTS,          // bytes
	LIMIT_KEY_COUNT,
};

struct limit_row {
	const char *name;
	unsigned long long least;
	unsigned long long most;
	const char *form; // of its text, to follow "is not"
};

extern const struct limit_row limit_table[LIMIT_KEY_COUNT];

// Parses a text ("4G", "200%"). Returns NULL, or what is wrong, as the end of a sentence that
// begins with the text.
const char *limit_parse(struct arena *arena, enum limit limit, const char *text,
			unsigned long long *ret_value);
// Returns the text of a value: "1536M", "2000", "200%".
const char *limit_render(struct arena *arena, enum limit limit, unsigned long long value);
