// SPDX-License-Identifier: MIT
// Small helpers around jansson.
#pragma once

#include "base/arena.h"

#include <jansson.h>

static inline void json_drop(json_t **value)
{
	json_decref(*value);
}
// A reference that is released on every way out.
#define JSON_OWNED __attribute__((cleanup(json_drop))) json_t

// The object that a text holds; NULL when it is none. The text may be NULL.
static inline json_t *json_read_object(const char *text, size_t flags)
{
	json_t *value = text ? json_loads(text, flags, NULL) : NULL;

	if (value && !json_is_object(value)) {
		json_decref(value);
		value = NULL;
	}
	return value;
}

// As text in the arena, ending in a newline.
static inline const char *json_write(struct arena *arena, const json_t *value, size_t flags)
{
	size_t length = json_dumpb(value, NULL, 0, flags);
	char *text = arena_alloc(arena, length + 2);

	json_dumpb(value, text, length, flags);
	text[length] = '\n';
	return text;
}
