// SPDX-License-Identifier: MIT
// What the option table says elsewhere: in the manual and in the shells' completions. Each of these files has a part between
// two marks that is made here; a test compares it.
#pragma once

#include "base/arena.h"

#include <stddef.h>

struct document {
	const char *path;
	const char *comment; // what a line of the marks begins with
	const char *(*render)(struct arena *arena);
};
extern const struct document documents[];
extern const size_t document_count;

#define DOCUMENT_BEGIN "generated from the option table by `make accept`"
#define DOCUMENT_END   "end of the generated part"
