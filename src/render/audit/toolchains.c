// SPDX-License-Identifier: MIT
// The part of the audit on toolchains, and on what the box lacks.
#include "render/audit/toolchains.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/config.h"
#include "config/origin.h"
#include "plan/plan.h"
#include "render/audit/parts.h"

enum { LISTED_NAMES = 3 }; // of the parts of a row

void audit_add_toolchains(struct screen *screen, const struct plan *plan)
{
	const struct origin *origin = &plan->config->toolchains_origin;

	if (!plan->toolchains.count && !origin->name)
		return;
	audit_add_title(screen, STYLE_HEAD, "Toolchains:");
	text_add(&screen->out, "  ");
	screen_add_wrapped(screen, STYLE_PLAIN,
			   arena_printf(screen->arena, "%s%s%s%s",
					plan->toolchains.count ? "read-only" : "none",
					origin->name ? " (" : "", origin->name ? origin->name : "",
					origin->name ? ")" : ""),
			   13);
	vec_each(row, &plan->toolchains) {
		const struct plan_toolchain *first = plan->toolchains.items;
		struct text line = { .arena = screen->arena };

		while (!str_equal(first->name, row->name))
			first++;
		if (first != row)
			continue; // in the row of an earlier one
		for (; first < plan->toolchains.items + plan->toolchains.count; first++)
			if (str_equal(first->name, row->name))
				text_printf(&line, "%s%s (%s)", line.length ? ", " : "",
					    quote_word(screen->arena,
						       path_tilde(screen->arena, first->root,
								  screen->home),
						       0),
					    quote_display(screen->arena, first->parts, 200));
		audit_add_mark(screen, ORIGIN_ALLOWED);
		text_printf(&screen->out, "%-10s ", row->name);
		screen_add_wrapped(screen, STYLE_PLAIN, text_get(&line), 17);
	}
}

const char *render_left_out(struct arena *arena, const struct plan_left_out *row, bool full)
{
	size_t shown = full || row->names.count <= LISTED_NAMES + 1 ? row->names.count
								    : LISTED_NAMES;
	struct text out = { .arena = arena };

	text_printf(&out, "%s (", row->what);
	for (size_t i = 0; i < shown; i++)
		text_printf(&out, "%s%s", i ? ", " : "", row->names.items[i]);
	if (shown < row->names.count)
		text_printf(&out, " and %zu more", row->names.count - shown);
	text_printf(&out, "%s)", row->names.count ? "" : row->why);
	if (row->option)
		text_printf(&out, ": %s", row->option);
	return text_get(&out);
}

void audit_add_left_out(struct screen *screen, const struct plan *plan)
{
	if (!plan->left_out.count)
		return;
	audit_add_title(screen, STYLE_HEAD, "Not in the box:");
	text_add(&screen->out, "\n");
	vec_each(row, &plan->left_out) {
		text_add(&screen->out, "  ");
		screen_add_wrapped(screen, STYLE_PLAIN, render_left_out(screen->arena, row, true),
				   4);
	}
}
