// SPDX-License-Identifier: MIT
// The preferences in the user's .claude.json that come along: how Claude looks and reacts.
#pragma once

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum preference_kind {
	PREFERENCE_SWITCH, // true or false
	PREFERENCE_WORD,   // a short name of Claude's own: letters, digits, '-', '_' and ':'
	PREFERENCE_NUMBER,
};

struct preference_row {
	const char *name;
	enum preference_kind kind;
	const char *why;
};
extern const struct preference_row preference_table[];
extern const size_t preference_count;

// Returns whether a member of .claude.json comes along. Any other value of a known name does not.
bool preference_passes(const char *name, const json_t *value);
