// SPDX-License-Identifier: MIT
// Expected texts that are kept in files. With UPDATE_GOLDEN=1 (`make accept`) they are rewritten.
#pragma once

#include "base/arena.h"
#include "check.h"

#include <stdbool.h>

// Returns the whole file, or NULL when it cannot be read.
const char *golden_read(struct arena *arena, const char *path);
bool golden_updates(void);
// Compares a text with a file. Returns NULL when they are the same or the file has been rewritten,
// otherwise the lines that differ.
const char *golden_difference(struct arena *arena, const char *path, const char *got);

static inline void golden_check(struct arena *arena, const char *path, const char *got,
				const char *what)
{
	const char *difference = golden_difference(arena, path, got);

	if (!CHECK_CASE(!difference, what))
		check_note("`make accept` if this is intended", difference);
}
