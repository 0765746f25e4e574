// SPDX-License-Identifier: MIT
// Parses the list of requested packages. The repository wrote it, so every line is validated.
#include "plan/nix/requested.h"

#include "base/arena.h"
#include "base/text.h"
#include "config/names.h"

#include <string.h>

enum { PACKAGES_MAX = 50, INVALID_MAX = 5 };

static bool contains(const strings *list, const char *name)
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
			if (requested.invalid.count < INVALID_MAX)
				vec_push(arena, &requested.invalid, name);
		} else if (*name && !contains(&requested.packages, name) &&
			   requested.packages.count < PACKAGES_MAX) {
			vec_push(arena, &requested.packages, name);
		}
	}
	return requested;
}

const char *requested_render_answer(struct arena *arena, const strings *packages,
				    enum requested_answer answer)
{
	struct text out = { .arena = arena };

	text_add(&out, answer == REQUESTED_YES ? "yes\n" : "no\n");
	vec_each(package, packages)
		text_printf(&out, "%s\n", *package);
	return text_get(&out);
}

enum requested_answer requested_parse_answer(struct arena *arena, const strings *packages,
					     const char *text)
{
	if (!text)
		return REQUESTED_UNKNOWN;
	if (str_equal(text, requested_render_answer(arena, packages, REQUESTED_YES)))
		return REQUESTED_YES;
	return str_equal(text, requested_render_answer(arena, packages, REQUESTED_NO))
		       ? REQUESTED_NO
		       : REQUESTED_UNKNOWN;
}
