// SPDX-License-Identifier: MIT
// The parts of the manual and of the shell completions that are generated from the option table.
// Each lies between two marks in its file; a test compares it.
#pragma once

#include "base/arena.h"

#include <stddef.h>

struct document {
	const char *path;
	const char *comment; // starts a comment in this file
	const char *(*render)(struct arena *arena);
};
extern const struct document documents[];
extern const size_t document_count;

#define DOCUMENT_BEGIN "generated from the option table by `make accept`"
#define DOCUMENT_END   "end of the generated part"
