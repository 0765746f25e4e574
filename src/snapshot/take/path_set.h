// SPDX-License-Identifier: MIT
// A set of paths.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// Uses open addressing. Starts as zeros.
struct path_set {
	const char **slots;
	size_t size; // a power of two
	size_t count;
};

bool path_set_has(const struct path_set *set, const char *path);
// Adds a path that the set does not have. The path is not copied.
void path_set_add(struct path_set *set, struct arena *arena, const char *path);
