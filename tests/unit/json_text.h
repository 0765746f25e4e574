// SPDX-License-Identifier: MIT
// Texts that tests of JSON and of lists compare.
#pragma once

#include "base/arena.h"
#include "base/text.h"

#include <jansson.h>
#include <stdlib.h>

// Returns JSON in one spelling, with sorted keys and without blanks; other text unchanged.
static inline const char *normalise_json(struct arena *arena, const char *text)
{
	json_t *value = text ? json_loads(text, 0, NULL) : NULL;
	char *dumped = value ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	const char *copy = dumped ? arena_strdup(arena, dumped) : text;

	free(dumped);
	json_decref(value);
	return copy;
}

// Returns the entries of a list, one a line.
static inline const char *join_lines(struct arena *arena, const strings *list)
{
	struct text out = { .arena = arena };

	vec_each(item, list)
		text_printf(&out, "%s\n", *item);
	return text_get(&out);
}
