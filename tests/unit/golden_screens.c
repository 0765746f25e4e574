// SPDX-License-Identifier: MIT
// The audit on screens of several sizes.
#include "golden_screens.h"

#include "base/arena.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/width.h"
#include "fixture.h"
#include "render/audit/audit.h"
#include "render/audit/short.h"

#include <string.h>

#define RED "\033[1;31m"

enum { ROWS = 24, MOST_LINES = 20 };

static const char *render(struct world *world, struct reader reader, bool full)
{
	return full ? render_audit(&world->plan, &world->arena, reader)
		    : render_audit_short(&world->plan, &world->arena, reader, true);
}

const char *screen_audit(struct world *world, struct reader reader, bool full)
{
	struct text out = { .arena = &world->arena };

	for (const char *s = render(world, reader, full); *s; s++)
		if (*s == '\033')
			text_add(&out, "<ESC>");
		else
			text_add_bytes(&out, s, 1);
	return text_get(&out);
}

// Returns a text without its colours.
static const char *without_colours(struct arena *arena, const char *text)
{
	struct text out = { .arena = arena };

	while (*text) {
		if (*text == '\033')
			text += strcspn(text, "m") + 1;
		else
			text_add_bytes(&out, text++, 1);
	}
	return text_get(&out);
}

static const char *line_problem(const char *line, size_t columns)
{
	if (display_width(line) > columns)
		return "is too long";
	for (const char *s = line; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return "has a control character";
	return NULL;
}

// Returns the number of lines, without those in red.
static size_t count_lines(struct arena *arena, const char *coloured)
{
	strings lines = str_split_lines(arena, coloured);
	size_t count = 0;

	vec_each(line, &lines)
		count += !strstr(*line, RED);
	return count;
}

static const char *screen_problem_at(struct world *world, size_t columns, bool full)
{
	struct reader reader = { .terminal = true, .columns = columns, .rows = ROWS };
	const char *plain = render(world, reader, full);
	strings lines = str_split_lines(&world->arena, plain);
	const char *coloured;

	vec_each(line, &lines) {
		const char *problem = line_problem(*line, columns);

		if (problem)
			return arena_printf(&world->arena, "%zu columns: '%s' %s", columns, *line,
					    problem);
	}
	reader.colour = true;
	coloured = render(world, reader, full);
	if (!str_equal(without_colours(&world->arena, coloured), plain))
		return arena_printf(&world->arena, "%zu columns: colours change the text", columns);
	// The question is one line more.
	if (!full && columns >= 80 && count_lines(&world->arena, coloured) + 1 > MOST_LINES)
		return arena_printf(&world->arena, "%zu columns: more than %d lines", columns,
				    MOST_LINES);
	return NULL;
}

const char *screen_problem(struct world *world)
{
	static const size_t widths[] = { 40, 60, 80, 120, 200 };

	for (size_t i = 0; i < 2 * ARRAY_SIZE(widths); i++) {
		const char *problem = screen_problem_at(world, widths[i / 2], i % 2);

		if (problem)
			return problem;
	}
	return NULL;
}
