// SPDX-License-Identifier: MIT
// The programs that the kernel runs before each system call of a box; src/filter makes them at build time.
#pragma once

#include <stddef.h>

enum seccomp_kind {
	SECCOMP_STRICT,
	SECCOMP_NESTED, // lets namespaces and mounts through
	SECCOMP_COUNT,
};

struct seccomp_program {
	const char *name;
	const unsigned char *bytes;
	size_t size;
};
extern const struct seccomp_program seccomp_programs[SECCOMP_COUNT];
