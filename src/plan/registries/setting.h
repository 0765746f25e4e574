// SPDX-License-Identifier: MIT
// Settings of package managers as data: what the parsers of the syntaxes return and what the
// renderer writes.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum { MOST_STEPS = 8, MOST_SETTINGS = 4096 };

// A part of the path of a setting. The number tells apart the entries of a list: the second mirror.
struct setting_step {
	const char *name;
	unsigned int number;
};

struct setting {
	struct setting_step steps[MOST_STEPS]; // sections, then the key; a deeper path is cut
	size_t depth;
	strings values; // one, or the entries of a list
	bool list;
	bool plain;      // a number or a boolean, written without quotes
	bool unreadable; // its value is not of the supported syntax
	size_t line;
};
typedef VEC(struct setting) setting_list;

// The content of a file.
struct parsed {
	struct arena *arena;
	setting_list list;
	size_t line; // the current one, while it is parsed
};

// A parser returns false if the text is not of the supported syntax; `line` is then the line.
typedef bool (*setting_parser)(struct parsed *parsed, const char *text);

// Adds a setting at a path, with one value (NULL: none). Returns NULL if there are too many.
struct setting *setting_add(struct parsed *parsed, const struct setting_step *steps, size_t depth,
			    const char *value);
// Returns whether two settings have the same first `depth` steps.
bool setting_same_path(const struct setting *a, const struct setting *b, size_t depth);
// Returns the next line of a text without blanks at its end, and counts it; NULL at the end.
char *setting_next_line(struct parsed *parsed, const char **text);
// Returns a copy without blanks around it.
const char *setting_trim(struct arena *arena, const char *text, size_t length);
