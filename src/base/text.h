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

// Returns a copy of the next line of a text, without its newline, and moves the cursor behind it; NULL at the end.
char *str_next_line(struct arena *arena, const char **cursor);

// A name that may stand before '=' in an environment: [A-Za-z_][A-Za-z0-9_]*.
bool env_name_valid(const char *name, size_t length);
