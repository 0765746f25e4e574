// SPDX-License-Identifier: MIT
// Small helpers around jansson.
#pragma once

#include "base/arena.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

static inline void json_drop(json_t **value)
{
	json_decref(*value);
}
// A reference that is released on every way out.
#define JSON_OWNED __attribute__((cleanup(json_drop))) json_t

// A value takes a hundred times the memory of its three bytes: what a box wrote could fill the machine. Long strings may be.
enum { JSON_SHORT = 256 * 1024, JSON_MOST_VALUES = 300 * 1000 };
bool json_too_many_values(const char *text);

// The object that a text holds; NULL when it is none. The text may be NULL.
static inline json_t *json_read_object(const char *text, size_t flags)
{
	json_t *value = text && !json_too_many_values(text) ? json_loads(text, flags, NULL) : NULL;

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
