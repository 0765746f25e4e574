// SPDX-License-Identifier: MIT
// Visible characters, and the columns that they take on a terminal.
//
// Theory of operation: all text that is not plainly visible counts as hostile. A character is
// visible if it is valid UTF-8 and is not a control character (C0, C1, DEL), a line or paragraph
// separator, a blank other than U+0020, or a format character. Format characters reorder text
// (U+202E) or hide it (U+200B, tags).
#include "base/width.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct range {
	uint32_t first;
	uint32_t last;
};

// Blanks other than U+0020 are included: the reader cannot distinguish them.
static const struct range invisible[] = {
	{ 0x00a0, 0x00a0 }, { 0x1680, 0x1680 },   { 0x2000, 0x200a },   { 0x202f, 0x202f },
	{ 0x205f, 0x205f }, { 0x2800, 0x2800 },   { 0x3000, 0x3000 },   { 0x0000, 0x001f },
	{ 0x007f, 0x009f }, { 0x00ad, 0x00ad },   { 0x034f, 0x034f },   { 0x0600, 0x0605 },
	{ 0x061c, 0x061c }, { 0x06dd, 0x06dd },   { 0x070f, 0x070f },   { 0x115f, 0x1160 },
	{ 0x17b4, 0x17b5 }, { 0x180b, 0x180f },   { 0x200b, 0x200f },   { 0x2028, 0x202e },
	{ 0x2060, 0x206f }, { 0x3164, 0x3164 },   { 0xd800, 0xdfff },   { 0xfdd0, 0xfdef },
	{ 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },
	{ 0xfffe, 0xffff }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

// Characters that take two columns. Whole blocks are listed: a width that is too large only breaks
// a line early, while one that is too small lets the terminal break the line.
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x232a },   { 0x23e9, 0x23f3 },   { 0x25fd, 0x25fe },
	{ 0x2600, 0x27bf },   { 0x2b1b, 0x2b55 },   { 0x2e80, 0xa4cf },   { 0xa960, 0xa97f },
	{ 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe10, 0xfe6f },   { 0xff00, 0xff60 },
	{ 0xffe0, 0xffe6 },   { 0x16fe0, 0x18dff }, { 0x1aff0, 0x1b2ff }, { 0x1f000, 0x1faff },
	{ 0x20000, 0x3fffd },
};

// Combining marks, which take no column. Only those that every terminal supports are listed.
static const struct range marks[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0487 }, { 0x0591, 0x05bd }, { 0x064b, 0x0655 },
	{ 0x093c, 0x093c }, { 0x0941, 0x0948 }, { 0x094d, 0x094d }, { 0x0e31, 0x0e31 },
	{ 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e }, { 0x1160, 0x11ff }, { 0x1dc0, 0x1dff },
	{ 0x20d0, 0x20dc }, { 0x3099, 0x309a }, { 0xfe20, 0xfe2f },
};

static bool in_ranges(uint32_t c, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

size_t utf8_decode(const char *text, uint32_t *ret_character)
{
	const unsigned char *s = (const unsigned char *)text;
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

size_t visible_length(const char *s, size_t *ret_columns)
{
	uint32_t c;
	size_t length;

	if (*s >= ' ' && *s <= '~') { // the most frequent case
		*ret_columns = 1;
		return 1;
	}
	length = utf8_decode(s, &c);
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
		size_t length = visible_length(text, &columns);

		text += length ? length : 1;
		width += columns;
	}
	return width;
}

size_t display_fit(const char *text, size_t columns)
{
	size_t used = 0;
	size_t at = 0;

	while (text[at]) {
		size_t width = 1;
		size_t length = visible_length(text + at, &width);

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
