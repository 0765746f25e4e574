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

#define DOCUMENT_BEGIN "made from the option table: UPDATE_GOLDEN=1 build/tests/test_documents"
#define DOCUMENT_END   "made until here"
