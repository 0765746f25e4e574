// SPDX-License-Identifier: MIT
// What a box may use at most: memory, processes, processor time.
#pragma once

#include "base/arena.h"

// A limit has one name: the key in a profile and the kernel's controller.
enum limit {
	LIMIT_MEMORY, // bytes
	LIMIT_PIDS,   // processes and threads
	LIMIT_CPU,    // percent of one processor
	LIMIT_COUNT,
};

struct limit_row {
	const char *name;
	unsigned long long least;
	unsigned long long most;
	const char *form; // what a text for it looks like, to follow "is not"
};

extern const struct limit_row limit_table[LIMIT_COUNT];

// What is wrong with a text ("4G", "200%"), to follow it in a sentence; NULL: nothing, and `ret_value` is set.
const char *limit_parse(struct arena *arena, enum limit limit, const char *text,
			unsigned long long *ret_value);
// The same in the other direction: "1536M", "2000", "200%".
const char *limit_render(struct arena *arena, enum limit limit, unsigned long long value);
