// SPDX-License-Identifier: MIT
// Helpers for jansson, and a limit on the number of values in JSON text.
#pragma once

#include "base/arena.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

static inline void json_cleanup(json_t **value)
{
	json_decref(*value);
}
// Declares a reference that is released at the end of its scope.
#define JSON_OWNED __attribute__((cleanup(json_cleanup))) json_t

// A parsed value takes about a hundred times the memory of its text, so JSON written by a box could
// exhaust the memory of the host. Texts up to JSON_SHORT bytes are always accepted; long strings
// count as one value.
enum { JSON_SHORT = 256 * 1024, JSON_MOST_VALUES = 300 * 1000 };
// Returns whether `text` is longer than JSON_SHORT and has more than JSON_MOST_VALUES values.
bool json_too_many_values(const char *text);

// Returns the object of that key, and creates it when it is missing; NULL on failure.
json_t *json_get_or_add_object(json_t *parent, const char *key);

// Parses an object. Returns a new reference, NULL if the text is NULL, no JSON object, or has too
// many values.
static inline json_t *json_read_object(const char *text, size_t flags)
{
	json_t *value = text && !json_too_many_values(text) ? json_loads(text, flags, NULL) : NULL;

	if (value && !json_is_object(value)) {
		json_decref(value);
		value = NULL;
	}
	return value;
}

// Returns the value as text in the arena, with a newline at its end.
static inline const char *json_write(struct arena *arena, const json_t *value, size_t flags)
{
	size_t length = json_dumpb(value, NULL, 0, flags);
	char *text = arena_alloc(arena, length + 2);

	json_dumpb(value, text, length, flags);
	text[length] = '\n';
	return text;
}
