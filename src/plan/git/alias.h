// SPDX-License-Identifier: MIT
// Which aliases of git run no program besides git.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// A command of git that an alias may run.
struct git_command_row {
	const char *name;
	const char *refused; // letters of options that name a program or a key
	const char *why;     // of these letters; NULL: none
};
extern const struct git_command_row git_command_table[];
extern const size_t git_command_count;

// Returns whether the value of an alias is a command of the table, without an option that names a
// Splits an alias into words as git does, without quotation marks.
strings git_alias_words(struct arena *arena, const char *value);
// program, a configuration or a key.
bool git_alias_is_plain(struct arena *arena, const char *value);
