// SPDX-License-Identifier: MIT
// Where in a JSON text something stands: jansson forgets it once the text is read, and an error wants to say it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Both from 1; a column is a character, not a byte.
struct position {
	size_t line;
	size_t column;
};

// One step down: the member of an object, or with a NULL key the entry of a list.
struct json_step {
	const char *key;
	size_t index;
};

enum locate_what {
	LOCATE_VALUE,
	LOCATE_KEY, // of the last step; an entry of a list has none, and its value is meant
};

// False when there is no such place, or the text is not JSON.
bool locate(const char *text, const struct json_step *steps, size_t depth, enum locate_what what,
	    struct position *ret_position);
// The position of a byte.
struct position locate_byte(const char *text, size_t offset);
