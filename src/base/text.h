// SPDX-License-Identifier: MIT
// A growable text buffer, and small functions on strings.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct text {
	struct arena *arena;
	char *data; // NULL while empty; NUL-terminated
	size_t length;
	size_t capacity;
};

// Add text, bytes or formatted text to the buffer.
void text_add(struct text *text, const char *more);
void text_add_bytes(struct text *text, const char *bytes, size_t count);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Adds bytes as base64, in lines of `columns` characters (a multiple of 4).
void text_add_base64(struct text *text, const unsigned char *bytes, size_t count, size_t columns);
// Decodes base64 up to its end, the first '=' or `most` bytes. Returns the number of bytes, 0:
// none, or another character is in it.
size_t base64_decode(const char *base64, size_t length, unsigned char *bytes, size_t most);
// Returns the content; "" while the buffer is empty.
const char *text_get(const struct text *text);

// Returns whether two strings are equal. NULL equals only NULL.
bool str_equal(const char *a, const char *b);
// Return whether the text starts or ends with this string.
bool str_starts(const char *text, const char *prefix);
bool str_ends(const char *text, const char *suffix);
// Returns the part of `text` after `prefix`, NULL if the text does not start with it.
const char *str_after(const char *text, const char *prefix);

// Returns the next word of a shell command line without simple quotes, and moves the cursor behind
// it; NULL at the end. Other shell syntax stays in the word as it is.
const char *str_next_word(struct arena *arena, const char **cursor);

// Returns a copy of the next line without its newline, and moves the cursor behind it; NULL at the
// end.
char *str_next_line(struct arena *arena, const char **cursor);
// Returns copies of all lines of a text.
strings str_split_lines(struct arena *arena, const char *text);

// Returns whether `name` can be the name of an environment variable: [A-Za-z_][A-Za-z0-9_]*.
bool env_name_valid(const char *name, size_t length);
