// SPDX-License-Identifier: MIT
// The programs that the kernel runs before each system call of a box; src/filter makes them at build time.
#pragma once

#include <stddef.h>

enum filter_kind {
	FILTER_STRICT,
	FILTER_NESTED, // lets namespaces and mounts through
	FILTER_COUNT,
};

struct filter_program {
	const char *name;
	const unsigned char *bytes;
	size_t size;
};
extern const struct filter_program filter_programs[FILTER_COUNT];
