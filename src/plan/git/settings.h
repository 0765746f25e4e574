// SPDX-License-Identifier: MIT
// Small functions on settings of git.
#pragma once

#include "base/arena.h"
#include "plan/git/facts.h"

#include <stdbool.h>
#include <stddef.h>

// The parts of a name such as remote.origin.url.
struct git_name {
	const char *section;
	const char *subsection; // NULL: none
	const char *key;
};

// Returns the last setting of a name, which counts in git; NULL: there is none.
const struct git_setting *git_setting_last(const git_settings *settings, const char *name);
// Returns whether a setting exists and is true.
bool git_setting_is_true(const struct git_setting *setting);
// Splits a name at its first and its last dot.
struct git_name git_name_split(struct arena *arena, const char *name);
// Adds a text to a list unless the list has it already, or has `limit` entries.
void git_add_once(struct arena *arena, strings *list, const char *text, size_t limit);
// Returns whether a value has no control characters except newlines and tabs, and is not too long.
bool git_value_is_text(const char *value);
