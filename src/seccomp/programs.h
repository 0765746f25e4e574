// SPDX-License-Identifier: MIT
// The BPF programs of the seccomp filter, which seccomp/generate.c generates at build time.
#pragma once

#include <stddef.h>

enum seccomp_kind {
	SECCOMP_STRICT,
	SECCOMP_NESTED, // allows namespaces and mounts
	SECCOMP_COUNT,
};

struct seccomp_program {
	const char *name;
	const unsigned char *bytes;
	size_t size;
};
extern const struct seccomp_program seccomp_programs[SECCOMP_COUNT];
