// SPDX-License-Identifier: MIT
// Parses and writes limits as users write them.
#include "config/limits.h"

#include "base/arena.h"

#include <stdbool.h>
#include <string.h>

enum { DECIMALS = 3, DIGITS = 12 };

static const char units[] = "KMGT"; // each is 1024 times the one before

// With less memory or fewer processes no shell starts in the box. The kernel has at most 2^22
// processes.
const struct limit_row limit_table[LIMIT_KEY_COUNT] = {
	[LIMIT_MEMORY] = { "memory", 32ULL << 20, 64ULL << 40, "a size such as 512M, 1.5G or 4G" },
	[LIMIT_PIDS] = { "pids", 16, 1ULL << 22, "a number" },
	[LIMIT_CPU] = { "cpu", 1, 100000, "a share such as 50% (of one processor) or 200%" },
	[LIMIT_HOME] = { "home", 1ULL << 20, 64ULL << 40, "a size such as 512M, 1.5G or 4G" },
	[LIMIT_SNAPSHOTS] = { "snapshots", 1ULL << 20, 64ULL << 40,
			      "a size such as 512M, 1.5G or 4G" },
};

// Reads a number and returns the count of its digits. A number with more than DIGITS digits is
// read in part, and is beyond every range all the same.
static size_t read_digits(const char *text, unsigned long long *ret_value)
{
	size_t length = strspn(text, "0123456789");

	*ret_value = 0;
	for (size_t i = strspn(text, "0"), count = 0; i < length && count <= DIGITS; i++, count++)
		*ret_value = *ret_value * 10 + (unsigned long long)(text[i] - '0');
	return length;
}

static bool read_size(const char *text, unsigned long long *ret_value)
{
	unsigned long long whole;
	unsigned long long part = 0;
	unsigned long long scale = 1;
	size_t length = read_digits(text, &whole);
	const char *unit;

	if (!length)
		return false;
	text += length;
	if (*text == '.') {
		length = read_digits(++text, &part);
		if (!length || length > DECIMALS)
			return false;
		text += length;
		while (length--)
			scale *= 10;
	}
	unit = *text ? strchr(units, *text) : NULL;
	if (!unit || text[1])
		return false;
	for (ptrdiff_t i = -1; i < unit - units; i++) {
		// Beyond the range already: stop before an overflow.
		if (whole > limit_table[LIMIT_MEMORY].most)
			break;
		whole *= 1024;
		part *= 1024;
	}
	*ret_value = (whole + part / scale) / 1024 * 1024;
	return true;
}

static bool is_size(enum limit limit)
{
	return limit == LIMIT_MEMORY || limit == LIMIT_HOME || limit == LIMIT_SNAPSHOTS;
}

static bool read_value(enum limit limit, const char *text, unsigned long long *ret_value)
{
	size_t length;

	if (is_size(limit))
		return read_size(text, ret_value);
	length = read_digits(text, ret_value);
	return length && strcmp(text + length, limit == LIMIT_CPU ? "%" : "") == 0;
}

const char *limit_parse(struct arena *arena, enum limit limit, const char *text,
			unsigned long long *ret_value)
{
	const struct limit_row *row = &limit_table[limit];

	if (!read_value(limit, text, ret_value))
		return arena_printf(arena, "is not %s", row->form);
	if (*ret_value < row->least)
		return arena_printf(arena, "is less than %s",
				    limit_render(arena, limit, row->least));
	if (*ret_value > row->most)
		return arena_printf(arena, "is more than %s",
				    limit_render(arena, limit, row->most));
	return NULL;
}

const char *limit_render(struct arena *arena, enum limit limit, unsigned long long value)
{
	size_t unit = 0;

	if (!is_size(limit))
		return arena_printf(arena, "%llu%s", value, limit == LIMIT_CPU ? "%" : "");
	value /= 1024;
	while (unit + 1 < strlen(units) && value % 1024 == 0 && value) {
		value /= 1024;
		unit++;
	}
	return arena_printf(arena, "%llu%c", value, units[unit]);
}
