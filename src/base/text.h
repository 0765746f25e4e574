// SPDX-License-Identifier: MIT
// Strings: a growable buffer, small tests, quoting for the shell and for the screen.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct text {
	struct arena *arena;
	char *data; // always NUL-terminated once something was added
	size_t length;
	size_t capacity;
};

void text_add(struct text *text, const char *more);
void text_add_bytes(struct text *text, const char *bytes, size_t count);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Bytes as base64, in lines of so many columns (a multiple of 4).
void text_add_base64(struct text *text, const unsigned char *bytes, size_t count, size_t columns);
const char *text_get(const struct text *text);

bool str_equal(const char *a, const char *b);
bool str_starts(const char *text, const char *prefix);
bool str_ends(const char *text, const char *suffix);
// What follows the prefix, or NULL.
const char *str_after(const char *text, const char *prefix);

// The next word of a shell command line, with simple quotes taken off; NULL at the end. A reading aid, no shell:
// what it does not understand stays in the word.
const char *str_next_word(struct arena *arena, const char **cursor);

// A name that may stand before '=' in an environment: [A-Za-z_][A-Za-z0-9_]*.
bool env_name_valid(const char *name, size_t length);

// One word of POSIX sh that has exactly this value and holds no control character: those are
// written with printf(1), newlines as "$CLAUDEBOX_NL", which the caller defines when *uses_newline is set.
const char *quote_shell(struct arena *arena, const char *value, bool *uses_newline);
// The same for the body of an unquoted here-document; a newline stays a newline.
const char *quote_here_document(struct arena *arena, const char *value);

// For the screen: no byte of the result can move the cursor, change colours, reorder text or
// start a line. Backslashes are doubled so that an escape cannot be forged. At most `columns`
// wide (0: no limit); what is cut is counted.
const char *quote_display(struct arena *arena, const char *value, size_t columns);

// The same as one word: blanks and commas are marked too, so that it cannot pass for two, or for the text around it.
const char *quote_word(struct arena *arena, const char *value, size_t columns);

// The longest beginning of valid, escaped text that takes no more than `columns`, in bytes; an escape stays whole.
size_t display_fit(const char *text, size_t columns);

// Columns that valid, escaped text takes on a terminal.
size_t display_width(const char *text);
