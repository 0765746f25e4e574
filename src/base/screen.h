// SPDX-License-Identifier: MIT
// What everything that people read is written with: no wider than the screen, in characters that it has.
#pragma once

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

// Who reads a stream. All zero: a program, which gets whole lines, in UTF-8.
struct reader {
	bool terminal;
	bool escapes;   // it is one that understands escape sequences
	bool colour;    // and the user did not say no to colours
	bool ascii;     // the locale has no other characters
	size_t columns; // 0: as many as it takes
};

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
	struct reader reader;
	const char *home;
};

struct screen screen_for(struct arena *arena, struct reader reader);

// All text is valid and escaped. What the locale lacks is escaped here, before anything is measured.
void screen_add(struct screen *screen, enum style style, const char *text);
// What is left of a line after `used` columns, but never too little to be of use; 0: no limit.
size_t screen_room(const struct screen *screen, size_t used);
// Whether there are fewer columns than that.
bool screen_narrow(const struct screen *screen, size_t columns);
void screen_add_blanks(struct screen *screen, size_t count);
void screen_end_line(struct screen *screen, size_t indent);
// Adds a piece that has `used` columns before it and may be longer than a line: it is broken here, with the indent,
// before the terminal breaks it where the text wants. Returns the columns used then.
size_t screen_add_broken(struct screen *screen, enum style style, const char *text, size_t indent,
			 size_t used);
// Fills lines with words, each further line indented. A command in `backquotes` stays on one line where it fits into
// one; else its lines end as in a shell, so that it can be copied all the same. Returns the columns used then.
size_t screen_add_words(struct screen *screen, enum style style, const char *text, size_t indent,
			size_t used);
// A whole paragraph.
void screen_add_wrapped(struct screen *screen, enum style style, const char *text, size_t indent);
