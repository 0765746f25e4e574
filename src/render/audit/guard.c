// SPDX-License-Identifier: MIT
// The part of the audit on the protected places of the project.
#include "render/audit/guard.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "config/config.h"
#include "config/origin.h"
#include "plan/guard/facts.h"
#include "plan/guard/places.h"
#include "plan/plan.h"
#include "render/audit/section.h"
#include "render/audit/parts.h"

enum { LABEL_INDENT = 17, LISTED_TRACKED = 40 };

// Returns a path as the user knows it: relative to the project if it is in it.
static const char *shown_path(struct screen *screen, const struct plan *plan, const char *path)
{
	const char *relative = str_after(path, plan->project);

	return relative && *relative == '/' ? quote_word(screen->arena, relative + 1, 0)
					    : audit_path(screen, path);
}

static void add_line(struct screen *screen, enum origin_kind kind, const char *label,
		     enum style style, const char *text)
{
	audit_add_mark(screen, kind);
	text_printf(&screen->out, "%-10s ", label);
	screen_add_wrapped(screen, style, text, LABEL_INDENT);
}

static const char *scope_of(const struct config_unprotect *request)
{
	return str_starts(request->path, "**/") ? " in every directory" : "";
}

// Adds a line for all places with the same mount and reason, in place of the first of them.
static void add_places(struct screen *screen, const struct plan *plan,
		       const struct guard_place *first)
{
	struct text line = { .arena = screen->arena };

	vec_each(place, &plan->guard.places) {
		if (!place->row || place->mount != first->mount ||
		    !str_equal(place->row->why, first->row->why))
			continue;
		if (place < first)
			return; // in the line of an earlier place
		text_printf(&line, "%s%s", line.length ? ", " : "",
			    shown_path(screen, plan, place->path));
	}
	text_printf(&line, " (%s)", first->row->why);
	add_line(screen, ORIGIN_GENERATED, guard_mount_names[first->mount], STYLE_PLAIN,
		 text_get(&line));
}

void audit_add_guard(struct screen *screen, const struct plan *plan)
{
	struct text tracked = { .arena = screen->arena };

	if (!plan->guard.active)
		return;
	audit_add_title(screen, STYLE_HEAD, "Protected:");
	text_add(&screen->out, "  ");
	screen_add_wrapped(screen, STYLE_PLAIN,
			   "places of the project that programs outside execute or trust", 12);
	vec_each(place, &plan->guard.places) {
		if (place->row)
			add_places(screen, plan, place);
	}
	add_line(screen, ORIGIN_GENERATED, "watched", STYLE_PLAIN,
		 arena_printf(
			 screen->arena,
			 "%zu names: what the box writes there is moved to quarantine. Such "
			 "places in subdirectories are found and protected while the box starts",
			 guard_count));
	for (size_t i = 0; i < plan->guard.tracked.count && i < LISTED_TRACKED; i++)
		text_printf(&tracked, "%s%s", i ? ", " : "",
			    quote_word(screen->arena, plan->guard.tracked.items[i], 0));
	if (plan->guard.tracked.count > LISTED_TRACKED)
		text_printf(&tracked, " and %zu more", plan->guard.tracked.count - LISTED_TRACKED);
	if (tracked.length)
		add_line(screen, ORIGIN_GENERATED, "writable", STYLE_PLAIN,
			 arena_printf(screen->arena,
				      "%s (git tracks it: `git diff` shows a change)",
				      text_get(&tracked)));
	vec_each(request, &plan->config->unprotect)
		add_line(screen, ORIGIN_REQUESTED, "NOT", STYLE_DANGER,
			 arena_printf(screen->arena, "%s%s (%s)",
				      quote_word(screen->arena, request->path, 0),
				      scope_of(request), request->origin.name));
}

void audit_name_guard(struct screen *screen, const struct plan *plan, struct audit_section *section)
{
	size_t count = 0;

	if (!plan->guard.active)
		return;
	vec_each(place, &plan->guard.places)
		count += place->row != NULL;
	audit_add_marked(screen->arena, section, ORIGIN_GENERATED, STYLE_PLAIN,
			 count ? arena_printf(screen->arena,
					      "%zu place%s of the project that programs outside "
					      "execute, and new ones",
					      count, count == 1 ? "" : "s")
			       : "new files that programs outside would execute");
	vec_each(request, &plan->config->unprotect)
		audit_add_marked(screen->arena, section, ORIGIN_REQUESTED, STYLE_DANGER,
				 arena_printf(screen->arena, "NOT %s%s",
					      quote_word(screen->arena, request->path, 0),
					      scope_of(request)));
}
