// SPDX-License-Identifier: MIT
// Finds the position of a value in a JSON text, for error messages: jansson does not keep
// positions.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Both from 1; a column is a character, not a byte.
struct position {
	size_t line;
	size_t column;
};

// One step towards a value: the member of an object or, with a NULL key, the entry of a list.
struct json_step {
	const char *key;
	size_t index;
};

enum locate_what {
	LOCATE_VALUE,
	LOCATE_KEY, // of the last step; for the entry of a list, its value
};

// Stores the position of the value that the steps lead to. Returns false if there is no such
// value or the text is not JSON.
bool locate(const char *text, const struct json_step *steps, size_t depth, enum locate_what what,
	    struct position *ret_position);
// Returns the position of a byte.
struct position locate_byte(const char *text, size_t offset);
