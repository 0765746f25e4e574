// SPDX-License-Identifier: MIT
// The record of what was protected in the last box of a project, and what was writable.
#include "plan/guard/record.h"

#include "base/arena.h"
#include "base/digest.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/guard/facts.h"
#include "plan/guard/places.h"
#include "plan/plan.h"
#include "plan/state/instances.h"

#include <string.h>

#define TRACKED     "tracked "
#define PROTECTED   "protected "
#define UNPROTECTED "unprotected "

const char *guard_record_name(struct arena *arena, const struct facts *facts)
{
	return arena_printf(arena, "guarded-%s",
			    digest_hex(arena, facts->project, INSTANCE_DIGITS));
}

static void add_line(struct text *out, const char *kind, const char *path)
{
	if (!strchr(path, '\n'))
		text_printf(out, "%s%s\n", kind, path);
}

const char *guard_record_render(struct arena *arena, const struct plan *plan)
{
	struct text out = { .arena = arena };

	vec_each(path, &plan->guard.tracked)
		add_line(&out, TRACKED, *path);
	vec_each(place, &plan->guard.places) {
		const char *below = str_after(place->path, plan->project);

		// Git tracks no file of a git directory.
		if (below && *below == '/' && place->row && place->row->scope != GUARD_GIT)
			add_line(&out, PROTECTED, below + 1);
	}
	vec_each(path, &plan->guard.unprotected)
		add_line(&out, UNPROTECTED, *path);
	return text_get(&out);
}

struct guard_record guard_record_parse(struct arena *arena, const char *text)
{
	struct guard_record record = { 0 };
	const struct {
		const char *kind;
		strings *list;
	} kinds[] = {
		{ TRACKED, &record.tracked },
		{ PROTECTED, &record.protected },
		{ UNPROTECTED, &record.unprotected },
	};
	const char *line;

	while (text && (line = str_next_line(arena, &text)))
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			if (str_starts(line, kinds[i].kind))
				vec_push(arena, kinds[i].list, line + strlen(kinds[i].kind));
	return record;
}
