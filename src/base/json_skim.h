// SPDX-License-Identifier: MIT
// Reads the members of a JSON object one by one, without a tree of the values. Claude's account
// file has many megabytes, of which a few members are of interest: jansson takes 500 ms for 11 MB.
#pragma once

#include "base/arena.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

struct json_skim {
	const char *at;
	bool started;
	bool complete; // after the last member: the object ends as it must
};

// A member, as it is written in the text.
struct json_member {
	const char *key; // between its quotes
	size_t key_length;
	const char *value;
	size_t value_length;
};

// Starts at an object; `text` ends with a NUL, wherever the object ends.
struct json_skim json_skim_start(const char *text);
// Returns the next member; false: there is none, or the text is not JSON. Only the structure is
// checked: json_skim_value() checks the value.
bool json_skim_next(struct json_skim *skim, struct json_member *ret_member);
// Returns whether the key is this text, which must need no escapes.
bool json_skim_is(const struct json_member *member, const char *key);
// Parses the value of a member: a scalar or a container, at most `longest` bytes. Returns a new
// reference, NULL: it is too long or not JSON.
json_t *json_skim_value(struct arena *arena, const struct json_member *member, size_t longest);
