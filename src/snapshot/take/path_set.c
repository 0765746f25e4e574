// SPDX-License-Identifier: MIT
// A set of paths.
#include "snapshot/take/path_set.h"

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

enum { FIRST_SLOTS = 1024 };

static size_t hash(const char *text)
{
	size_t value = 14695981039346656037U;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 1099511628211U;
	return value;
}

static void set_insert(struct path_set *set, const char *path)
{
	size_t at = hash(path) & (set->size - 1);

	while (set->slots[at])
		at = (at + 1) & (set->size - 1);
	set->slots[at] = path;
}

bool path_set_has(const struct path_set *set, const char *path)
{
	size_t at = set->size ? hash(path) & (set->size - 1) : 0;

	while (set->size && set->slots[at]) {
		if (str_equal(set->slots[at], path))
			return true;
		at = (at + 1) & (set->size - 1);
	}
	return false;
}

void path_set_add(struct path_set *set, struct arena *arena, const char *path)
{
	struct path_set larger = { .size = set->size ? set->size * 2 : FIRST_SLOTS };

	if ((set->count + 1) * 2 > set->size) {
		larger.slots = arena_alloc(arena, larger.size * sizeof(*larger.slots));
		for (size_t i = 0; i < set->size; i++)
			if (set->slots[i])
				set_insert(&larger, set->slots[i]);
		larger.count = set->count;
		*set = larger;
	}
	set_insert(set, path);
	set->count++;
}
