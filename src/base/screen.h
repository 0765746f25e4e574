// SPDX-License-Identifier: MIT
// Formats text for a reader: wrapped to the terminal's width, in its characters and colours.
#pragma once

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

// The reader of a stream. All zero: a program, which gets unwrapped lines in UTF-8.
struct reader {
	bool terminal;
	bool escapes;   // the terminal supports escape sequences
	bool colour;    // `escapes`, and the user did not disable colours
	bool ascii;     // the locale has ASCII characters only
	size_t columns; // width of the terminal; 0: lines are not wrapped
	size_t rows;    // height of the terminal; 0: unknown
};

enum style {
	STYLE_PLAIN,
	STYLE_HEAD,
	STYLE_DIM,
	STYLE_GOOD,
	STYLE_WARN,
	STYLE_ALLOWED,
	STYLE_REQUESTED,
	STYLE_DANGER,
};

struct screen {
	struct arena *arena;
	struct text out;
	struct reader reader;
	const char *home;
};

struct screen screen_for(struct arena *arena, struct reader reader);

// All functions take text that is valid UTF-8 and escaped (quote_display). Characters that the
// locale lacks are escaped here, before the width is measured.

// Adds text without wrapping it.
void screen_add(struct screen *screen, enum style style, const char *text);
// Returns the number of columns left in a line after `used`, but at least 16; 0: no limit.
size_t screen_room(const struct screen *screen, size_t used);
// Returns the number of columns that a text takes on this screen.
size_t screen_width(const struct screen *screen, const char *text);
// Returns the columns of the first word, or of the first command in `backquotes`.
size_t screen_first_width(const struct screen *screen, const char *text);
// Returns the text, or its beginning with "..." if it takes more than `columns` columns.
const char *screen_cut(const struct screen *screen, const char *text, size_t columns);
// Return the number of words, and the first `count` of them with "..." unless they are all. A
// command in `backquotes` is one word.
size_t screen_count_words(const struct screen *screen, const char *text);
const char *screen_cut_words(const struct screen *screen, const char *text, size_t count);
// Returns whether the terminal has fewer than `columns` columns.
bool screen_narrow(const struct screen *screen, size_t columns);
void screen_add_blanks(struct screen *screen, size_t count);
// Adds a newline, and the indent of the next line.
void screen_end_line(struct screen *screen, size_t indent);
// Adds text that may be longer than a line, after `used` columns of the current line. Breaks it at
// the width of the terminal and indents the further lines, so that the terminal itself never wraps
// it and the text cannot choose what starts a line. Returns the columns used in the last line.
size_t screen_add_broken(struct screen *screen, enum style style, const char *text, size_t indent,
			 size_t used);
// Adds text word by word and indents the further lines. A command in `backquotes` stays on one line
// if it fits; otherwise its lines end in a backslash, so that it can be copied into a shell.
// Returns the columns used in the last line.
size_t screen_add_words(struct screen *screen, enum style style, const char *text, size_t indent,
			size_t used);
// Adds a paragraph: words, and a newline.
void screen_add_wrapped(struct screen *screen, enum style style, const char *text, size_t indent);
