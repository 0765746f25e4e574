// SPDX-License-Identifier: MIT
// Reads the repository's list of tools: everything in it is the repository's word, so everything is checked.
#include "plan/wishes.h"

#include "base/text.h"
#include "config/names.h"

#include <string.h>

enum { MOST_TOOLS = 50, MOST_ODD = 5 };

static bool has(const strings *list, const char *name)
{
	vec_each(known, list) {
		if (str_equal(*known, name))
			return true;
	}
	return false;
}

struct wishes wishes_parse(struct arena *arena, const char *text)
{
	struct wishes wishes = { 0 };

	for (const char *s = text ? text : ""; *s;) {
		size_t end = strcspn(s, "\n");
		size_t length = strcspn(s, "#\n");
		const char *name;

		while (length && strchr(" \t\r", s[length - 1]))
			length--;
		name = arena_strndup(arena, s, length);
		name += strspn(name, " \t\r");
		if (*name && !package_name_valid(name)) {
			if (wishes.odd.count < MOST_ODD)
				vec_push(arena, &wishes.odd, name);
		} else if (*name && !has(&wishes.tools, name) && wishes.tools.count < MOST_TOOLS) {
			vec_push(arena, &wishes.tools, name);
		}
		s += end + (s[end] == '\n');
	}
	return wishes;
}

const char *wishes_render_answer(struct arena *arena, const strings *tools, enum wish_answer answer)
{
	struct text out = { .arena = arena };

	text_add(&out, answer == WISH_YES ? "yes\n" : "no\n");
	vec_each(tool, tools)
		text_printf(&out, "%s\n", *tool);
	return text_get(&out);
}

enum wish_answer wishes_answered(struct arena *arena, const strings *tools, const char *kept)
{
	if (!kept)
		return WISH_UNKNOWN;
	if (str_equal(kept, wishes_render_answer(arena, tools, WISH_YES)))
		return WISH_YES;
	return str_equal(kept, wishes_render_answer(arena, tools, WISH_NO)) ? WISH_NO
									    : WISH_UNKNOWN;
}
