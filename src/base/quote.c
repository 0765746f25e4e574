// SPDX-License-Identifier: MIT
// Quotes any byte string for sh and for a terminal.
//
// Theory of operation: width.c decides which characters are visible; all other bytes are escaped. A
// combining mark is kept only on a letter of the same value, and only a few on each letter. More
// marks would be drawn over the lines around, and a mark without a letter over the text before the
// value.
#include "base/quote.h"

#include "base/arena.h"
#include "base/text.h"
#include "base/width.h"

#include <string.h>

enum { MARKS_PER_LETTER = 3 };

static void add_escaped(struct text *out, unsigned char c)
{
	if (c == '\n')
		text_add(out, "\\n");
	else if (c == '\t')
		text_add(out, "\\t");
	else if (c == '\r')
		text_add(out, "\\r");
	else
		text_printf(out, "\\x%02x", c);
}

// Escapes a value. Backslashes of a text stay as they are.
static const char *escape(struct arena *arena, const char *value, size_t columns, bool is_text)
{
	struct text out = { .arena = arena };
	size_t used = 0;
	size_t total = strlen(value);
	size_t marks_left = 0;

	for (const char *s = value; *s;) {
		size_t width = 1;
		size_t length = visible_length(s, &width);

		bool mark = width == 0;

		if (mark && !marks_left)
			length = 0;
		if (length == 0 || *s == ' ')
			marks_left = 0;
		else
			marks_left = mark ? marks_left - 1 : MARKS_PER_LETTER;
		if (length == 0)
			width = 4;
		else if (*s == '\\' && !is_text)
			width = 2;
		if (columns && used + width > columns) {
			text_printf(&out, "... (%zu bytes)", total);
			break;
		}
		if (length == 0) {
			add_escaped(&out, (unsigned char)*s);
			length = 1;
		} else if (*s == '\\' && !is_text) {
			text_add(&out, "\\\\");
		} else {
			text_add_bytes(&out, s, length);
		}
		used += width;
		s += length;
	}
	return text_get(&out);
}

const char *quote_display(struct arena *arena, const char *value, size_t columns)
{
	return escape(arena, value, columns, false);
}

const char *quote_line(struct arena *arena, const char *line, size_t length)
{
	struct text out = { .arena = arena };
	const char *end = line + length;

	for (;;) {
		size_t part = strnlen(line, (size_t)(end - line));
		const char *tab = memchr(line, '\t', part);

		if (tab)
			part = (size_t)(tab - line);
		text_add(&out, escape(arena, arena_strndup(arena, line, part), 0, true));
		if (line + part >= end)
			return text_get(&out);
		text_add(&out, tab ? "\t" : "\\x00");
		line += part + 1;
	}
}

const char *quote_word(struct arena *arena, const char *value, size_t columns)
{
	struct text out = { .arena = arena };

	for (const char *s = quote_display(arena, value, columns); *s; s++) {
		if (*s == ' ' || *s == ',')
			text_add(&out, "\\");
		text_add_bytes(&out, s, 1);
	}
	return text_get(&out);
}

// Returns whether the shell reads the value as itself without quotes.
static bool needs_no_quotes(const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=./:,@%";

	return *value && strspn(value, plain) == strlen(value);
}

const char *quote_listed(struct arena *arena, const char *name, size_t columns)
{
	if (!strchr(name, ',') || !needs_no_quotes(name))
		return quote_word(arena, name, columns);
	return arena_printf(arena, "'%s'", quote_display(arena, name, columns));
}

const char *quote_shell(struct arena *arena, const char *value, bool *uses_newline)
{
	struct text out = { .arena = arena };
	bool open = false;

	if (needs_no_quotes(value))
		return arena_strdup(arena, value);
	for (const char *s = value; *s;) {
		size_t width;
		size_t length = visible_length(s, &width);
		bool inside = length > 0 && *s != '\'';

		if (inside != open)
			text_add(&out, "'");
		open = inside;
		if (inside) {
			text_add_bytes(&out, s, length);
		} else if (*s == '\'') {
			text_add(&out, "\\'");
		} else if (*s == '\n') {
			text_add(&out, "\"$CLAUDEBOX_NL\"");
			*uses_newline = true;
		} else {
			text_printf(&out, "\"$(printf '\\%03o')\"", (unsigned char)*s);
		}
		s += length ? length : 1;
	}
	if (open)
		text_add(&out, "'");
	return out.length ? text_get(&out) : "''";
}

const char *quote_here_document(struct arena *arena, const char *value)
{
	struct text out = { .arena = arena };

	for (const char *s = value; *s;) {
		size_t width;
		size_t length = visible_length(s, &width);

		if (*s == '\n' || *s == '\t') {
			text_add_bytes(&out, s, 1);
		} else if (length == 0) {
			text_printf(&out, "$(printf '\\%03o')", (unsigned char)*s);
		} else {
			if (*s == '$' || *s == '`' || *s == '\\')
				text_add(&out, "\\");
			text_add_bytes(&out, s, length);
		}
		s += length ? length : 1;
	}
	return text_get(&out);
}
