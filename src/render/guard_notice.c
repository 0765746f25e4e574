// SPDX-License-Identifier: MIT
// Lines about files that the guard moves to quarantine.
#include "render/guard_notice.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/width.h"

#define COMMAND       " (claudebox --quarantine)"
#define SHORT_COMMAND ": --quarantine"

enum { NAME_COLUMNS = 12, ELLIPSIS = 3 };

// Returns the path, or its last component, cut if that does not fit either.
static const char *fit_path(struct arena *arena, const char *path, size_t columns)
{
	const char *shown = quote_display(arena, path, 0);

	if (display_width(shown) <= columns)
		return shown;
	shown = quote_display(arena, path_name(path), 0);
	if (display_width(shown) <= columns || columns <= ELLIPSIS)
		return shown;
	return arena_printf(arena, "%.*s...", (int)display_fit(shown, columns - ELLIPSIS), shown);
}

// Returns the columns that are left for a name between two texts, 0: none.
static size_t columns_left(size_t columns, const char *before, const char *after)
{
	size_t used = display_width(before) + display_width(after);

	return columns > used ? columns - used : 0;
}

const char *render_guard_notice(struct arena *arena, const char *path, size_t count, size_t columns)
{
	const char *before = "guard: moved ";
	const char *after = COMMAND;

	if (count == 1) {
		const char *name = quote_display(arena, path_name(path), 0);
		size_t wanted = display_width(name) < NAME_COLUMNS ? display_width(name)
								   : NAME_COLUMNS;

		if (columns_left(columns, before, after) < wanted)
			after = SHORT_COMMAND;
		return arena_printf(arena, "%s%s%s", before,
				    fit_path(arena, path, columns_left(columns, before, after)),
				    after);
	}
	before = arena_printf(arena, "guard: %zu files moved", count);
	if (!columns_left(columns + 1, before, after))
		after = SHORT_COMMAND;
	return arena_printf(arena, "%s%s", before, after);
}

const char *render_file_count(struct arena *arena, size_t count, size_t most)
{
	return arena_printf(arena, "%zu%s file%s", count, count < most ? "" : " or more",
			    count == 1 ? "" : "s");
}
