// SPDX-License-Identifier: MIT
// Compares and edits the texts of git configuration files.
//
// Texts end at their first NUL, behind which git reads on: the caller refuses a file with a NUL.
#pragma once

#include "base/arena.h"
#include "plan/guard/keys.h"

#include <stdbool.h>

// A name whose values differ. A NULL value means a key without "=".
struct git_config_change {
	const char *name;
	strings before; // in their order
	strings after;
};
typedef VEC(struct git_config_change) git_config_changes;

// Returns whether two lists have the same values in the same order.
bool git_config_same_values(const strings *a, const strings *b);
// Stores the names whose values differ between two texts. Returns false if `after` cannot be
// parsed. A text `before` that cannot be parsed counts as empty.
bool git_config_compare(struct arena *arena, const char *before, const char *after,
			git_config_changes *ret);
// Returns the text in which each changed name has exactly its values `after`; NULL if the text
// cannot be parsed. Old entries of these names are removed, with a comment on their line, and
// headers that have no entry left. New entries are added below the last header of their section, or
// below a new one. All other bytes stay as they are.
const char *git_config_edit(struct arena *arena, const char *text,
			    const git_config_changes *changes);
// Returns the text without the entries that git_key_refusal() refuses, and adds their names to the
// list; NULL if the text cannot be parsed.
const char *git_config_strip(struct arena *arena, const char *text,
			     const struct git_key_place *place, strings *ret_refused);
