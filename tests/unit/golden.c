// SPDX-License-Identifier: MIT
// Reads, compares and rewrites files with expected texts.
#include "golden.h"

#include "base/arena.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES_SHOWN = 12 };

const char *golden_read(struct arena *arena, const char *path)
{
	struct text out = { .arena = arena };
	FILE *file = fopen(path, "re");
	char buffer[4096];
	size_t got;

	if (!file)
		return NULL;
	while ((got = fread(buffer, 1, sizeof(buffer), file)) > 0)
		text_add_bytes(&out, buffer, got);
	fclose(file);
	return text_get(&out);
}

static const char *write_text(const char *path, const char *content)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return "cannot be written";
	fputs(content, file);
	return fclose(file) == 0 ? NULL : "cannot be written";
}

bool golden_updates(void)
{
	const char *update = getenv("UPDATE_GOLDEN");

	return update && *update;
}

static bool contains(const strings *lines, const char *line)
{
	vec_each(other, lines) {
		if (str_equal(*other, line))
			return true;
	}
	return false;
}

// Adds the lines that the other text does not have, each behind a mark. Returns their number.
static size_t add_missing(struct text *out, const strings *lines, const strings *others, char mark)
{
	size_t count = 0;

	vec_each(line, lines) {
		if (!contains(others, *line) && count++ < MOST_LINES_SHOWN)
			text_printf(out, "%c%s\n", mark, *line);
	}
	if (count > MOST_LINES_SHOWN)
		text_printf(out, "%c(and %zu more)\n", mark, count - MOST_LINES_SHOWN);
	return count;
}

static const char *show_difference(struct arena *arena, const char *wanted, const char *got)
{
	struct text out = { .arena = arena };
	strings old = str_split_lines(arena, wanted);
	strings new = str_split_lines(arena, got);

	text_add(&out, "\n");
	if (add_missing(&out, &old, &new, '-') + add_missing(&out, &new, &old, '+') == 0)
		text_add(&out, "the same lines in another order or number\n");
	return text_get(&out);
}

const char *golden_difference(struct arena *arena, const char *path, const char *got)
{
	const char *wanted = golden_read(arena, path);

	if (wanted && str_equal(wanted, got))
		return NULL;
	if (golden_updates())
		return write_text(path, got);
	return show_difference(arena, wanted ? wanted : "", got);
}
