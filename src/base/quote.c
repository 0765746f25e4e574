// SPDX-License-Identifier: MIT
// Makes any byte string safe for sh and for a terminal.
//
// Theory of operation: everything that is not plainly visible text counts as hostile. A character
// is visible when it is valid UTF-8 and is no control (C0, C1, DEL), no separator that ends a line,
// and no format character: those reorder (U+202E) or hide (U+200B, tags) what the reader sees. Marks
// that combine with a letter are visible on a letter of the same text, a few each: more would be
// painted over the lines around, and one without a letter over our own.
#include "base/quote.h"

#include "base/arena.h"
#include "base/text.h"

#include <stdint.h>
#include <string.h>

struct range {
	uint32_t first;
	uint32_t last;
};

// Blanks other than the plain one are among them: they would make gaps that nobody can tell apart.
static const struct range invisible[] = {
	{ 0x00a0, 0x00a0 },   { 0x1680, 0x1680 },   { 0x2000, 0x200a },   { 0x202f, 0x202f },
	{ 0x205f, 0x205f },   { 0x3000, 0x3000 },   { 0x0000, 0x001f },   { 0x007f, 0x009f },
	{ 0x00ad, 0x00ad },   { 0x034f, 0x034f },   { 0x0600, 0x0605 },   { 0x061c, 0x061c },
	{ 0x06dd, 0x06dd },   { 0x070f, 0x070f },   { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },
	{ 0x180b, 0x180f },   { 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f },
	{ 0x3164, 0x3164 },   { 0xd800, 0xdfff },   { 0xfdd0, 0xfdef },   { 0xfe00, 0xfe0f },
	{ 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },   { 0xfffe, 0xffff },
	{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

// Where characters of two columns are. A table that says too many breaks a line early, one that says too few breaks the
// screen: so blocks are taken as a whole, and of marks, which take no column, only those that every terminal knows.
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x232a },   { 0x23e9, 0x23f3 },   { 0x25fd, 0x25fe },
	{ 0x2600, 0x27bf },   { 0x2b1b, 0x2b55 },   { 0x2e80, 0xa4cf },   { 0xa960, 0xa97f },
	{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe10, 0xfe6f },   { 0xff00, 0xff60 },
	{ 0xffe0, 0xffe6 },   { 0x16fe0, 0x18dff }, { 0x1aff0, 0x1b2ff }, { 0x1f000, 0x1faff },
	{ 0x20000, 0x3fffd },
};

static const struct range marks[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0487 }, { 0x0591, 0x05bd }, { 0x064b, 0x0655 },
	{ 0x093c, 0x093c }, { 0x0941, 0x0948 }, { 0x094d, 0x094d }, { 0x0e31, 0x0e31 },
	{ 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e }, { 0x1160, 0x11ff }, { 0x1dc0, 0x1dff },
	{ 0x20d0, 0x20dc }, { 0x3099, 0x309a }, { 0xfe20, 0xfe2f },
};
enum { MARKS_ON_A_LETTER = 3 };

static bool in_ranges(uint32_t c, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

// Bytes of the valid UTF-8 character at `s`, 0 when it is not valid.
static size_t decode(const unsigned char *s, uint32_t *ret_character)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t c = length == 1 ? s[0] : s[0] & (0x7fU >> length);

	if ((s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < smallest[length] || c > 0x10ffff)
		return 0;
	*ret_character = c;
	return length;
}

// Length of the visible character at `s`, 0 when its first byte must be escaped.
static size_t visible(const char *s, size_t *ret_columns)
{
	uint32_t c;
	size_t length;

	if (*s >= ' ' && *s <= '~') { // nearly all of them
		*ret_columns = 1;
		return 1;
	}
	length = decode((const unsigned char *)s, &c);
	if (length == 0 || in_ranges(c, invisible, ARRAY_SIZE(invisible)))
		return 0;
	if (in_ranges(c, marks, ARRAY_SIZE(marks)))
		*ret_columns = 0;
	else
		*ret_columns = in_ranges(c, wide, ARRAY_SIZE(wide)) ? 2 : 1;
	return length;
}

size_t display_width(const char *text)
{
	size_t width = 0;

	while (*text) {
		size_t columns = 1;
		size_t length = visible(text, &columns);

		text += length ? length : 1;
		width += columns;
	}
	return width;
}

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

const char *quote_display(struct arena *arena, const char *value, size_t columns)
{
	struct text out = { .arena = arena };
	size_t used = 0;
	size_t total = strlen(value);
	size_t marks_left = 0;

	for (const char *s = value; *s;) {
		size_t width = 1;
		size_t length = visible(s, &width);

		bool mark = width == 0;

		if (mark && !marks_left)
			length = 0;
		if (length == 0 || *s == ' ')
			marks_left = 0;
		else
			marks_left = mark ? marks_left - 1 : MARKS_ON_A_LETTER;
		if (length == 0)
			width = 4;
		else if (*s == '\\')
			width = 2;
		if (columns && used + width > columns) {
			text_printf(&out, "... (%zu bytes)", total);
			break;
		}
		if (length == 0) {
			add_escaped(&out, (unsigned char)*s);
			length = 1;
		} else if (*s == '\\') {
			text_add(&out, "\\\\");
		} else {
			text_add_bytes(&out, s, length);
		}
		used += width;
		s += length;
	}
	return text_get(&out);
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

size_t display_fit(const char *text, size_t columns)
{
	size_t used = 0;
	size_t at = 0;

	while (text[at]) {
		size_t width = 1;
		size_t length = visible(text + at, &width);

		if (text[at] == '\\' && text[at + 1]) {
			length = text[at + 1] == 'x' ? 4 : 2;
			width = length;
		}
		if (used + width > columns && at)
			break;
		used += width;
		at += length ? length : 1;
	}
	return at;
}

static bool shell_plain(const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=./:,@%";

	return *value && strspn(value, plain) == strlen(value);
}

const char *quote_shell(struct arena *arena, const char *value, bool *uses_newline)
{
	struct text out = { .arena = arena };
	bool open = false;

	if (shell_plain(value))
		return arena_strdup(arena, value);
	for (const char *s = value; *s;) {
		size_t width;
		size_t length = visible(s, &width);
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
		size_t length = visible(s, &width);

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
