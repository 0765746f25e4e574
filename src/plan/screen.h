// SPDX-License-Identifier: MIT
// What the audit and the results of --check and --prove are written with.
#pragma once

#include "base/arena.h"
#include "base/text.h"

enum style {
	STYLE_PLAIN,
	STYLE_HEAD,
	STYLE_DIM,
	STYLE_GOOD,
	STYLE_WARN,
	STYLE_ASKED,
	STYLE_DANGER,
};

struct screen {
	struct arena *arena;
	struct text out;
	size_t columns;
	bool colour;
	const char *home;
};

void screen_add(struct screen *screen, enum style style, const char *text);
// What is left of a line after `used` columns, but never too little to be of use; 0: no limit.
size_t screen_room(const struct screen *screen, size_t used);
void screen_end_line(struct screen *screen, size_t indent);
// Adds a piece that has `used` columns before it and may be longer than a line: it is broken here, with the indent,
// before the terminal breaks it where the text wants. Returns the columns used then.
size_t screen_add_broken(struct screen *screen, enum style style, const char *text, size_t indent,
			 size_t used);
// Fills a paragraph, each further line indented.
void screen_add_wrapped(struct screen *screen, enum style style, const char *text, size_t indent);
