// SPDX-License-Identifier: MIT
// Reads the repository's list of tools: everything in it is the repository's word, so everything is checked.
#include "plan/nix/requested.h"

#include "base/arena.h"
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

struct requested requested_parse(struct arena *arena, const char *text)
{
	struct requested requested = { 0 };
	char *name;

	while (text && (name = str_next_line(arena, &text))) {
		size_t length = strcspn(name, "#");

		while (length && strchr(" \t\r", name[length - 1]))
			length--;
		name[length] = '\0';
		name += strspn(name, " \t\r");
		if (*name && !package_name_valid(name)) {
			if (requested.odd.count < MOST_ODD)
				vec_push(arena, &requested.odd, name);
		} else if (*name && !has(&requested.tools, name) &&
			   requested.tools.count < MOST_TOOLS) {
			vec_push(arena, &requested.tools, name);
		}
	}
	return requested;
}

const char *requested_render_answer(struct arena *arena, const strings *tools,
				    enum requested_answer answer)
{
	struct text out = { .arena = arena };

	text_add(&out, answer == REQUESTED_YES ? "yes\n" : "no\n");
	vec_each(tool, tools)
		text_printf(&out, "%s\n", *tool);
	return text_get(&out);
}

enum requested_answer requested_answered(struct arena *arena, const strings *tools,
					 const char *kept)
{
	if (!kept)
		return REQUESTED_UNKNOWN;
	if (str_equal(kept, requested_render_answer(arena, tools, REQUESTED_YES)))
		return REQUESTED_YES;
	return str_equal(kept, requested_render_answer(arena, tools, REQUESTED_NO))
		       ? REQUESTED_NO
		       : REQUESTED_UNKNOWN;
}
