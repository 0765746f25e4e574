// SPDX-License-Identifier: MIT
// What a session changed in repositories, for the report.
#include "render/report_repository.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/report/report.h"
#include "render/changes.h"
#include "render/instances.h"

#include <string.h>

enum { NAME_COLUMNS = 40, SHOWN = 60, DIGITS = 7 };

// Returns "new branch x", "branch x lost 2 commits (was 1a2b3c4)" and the like.
static const char *describe_ref(struct arena *arena, const struct report_ref *ref)
{
	const char *name =
		arena_printf(arena, "%s %s", render_ref_kind(ref->name),
			     quote_word(arena, render_ref_name(ref->name), NAME_COLUMNS + 20));
	const char *was =
		ref->before ? arena_printf(arena, " (was %.7s)", quote_word(arena, ref->before, 0))
			    : "";

	if (str_equal(ref->name, "refs/stash"))
		return ref->created ? "new stash" : arena_printf(arena, "the stash changed%s", was);
	if (ref->created)
		return arena_printf(arena, "new %s", name);
	if (ref->deleted)
		return arena_printf(arena, "deleted %s%s", name, was);
	if (ref->lost)
		return arena_printf(arena, "%s lost %s%s", name,
				    render_count(arena, ref->lost, "commit"), was);
	if (ref->counted)
		return arena_printf(arena, "%s moved (%s)", name,
				    render_count(arena, ref->gained, "new commit"));
	return arena_printf(arena, "%s moved%s", name, was);
}

// Returns the references that have changed, with commas; NULL: none.
static const char *list_refs(struct arena *arena, const struct report *report, size_t most)
{
	struct text out = { .arena = arena };
	size_t shown = 0;

	if (report->repository_lost)
		return "the git repository was removed or damaged";
	vec_each(ref, &report->refs) {
		if (shown++ < most)
			text_printf(&out, "%s%s", shown > 1 ? ", " : "", describe_ref(arena, ref));
	}
	if (shown > most)
		text_printf(&out, " and %zu more", shown - most);
	return shown ? text_get(&out) : NULL;
}

// Adds a part of the sentence.
static void add_part(struct text *out, const char *part)
{
	text_printf(out, "%s%s", out->length ? "; " : "", part);
}

static void add_operations(struct text *out, const struct report *report)
{
	static const char *const ends[OPERATION_CHANGE_COUNT] = {
		[OPERATION_STARTED] = "is in progress",
		[OPERATION_CONTINUED] = "has gone on",
		[OPERATION_ENDED] = "was ended",
	};

	vec_each(operation, &report->operations) {
		const char *name = quote_word(out->arena, operation->name, SHOWN);

		add_part(out, arena_printf(out->arena, "%s %s %s", *name == 'a' ? "an" : "a", name,
					   ends[operation->change]));
	}
}

// Adds the repositories in the project.
static void add_nested(struct text *out, const struct report *report, size_t most)
{
	size_t count = report->other.nested.count;
	size_t shown = count < most ? count : most;

	for (size_t i = 0; i < shown; i++) {
		const struct report_repository *nested = &report->other.nested.items[i];
		const char *name = quote_word(out->arena, nested->path, SHOWN);

		add_part(out,
			 nested->change == REPOSITORY_CHANGED
				 ? arena_printf(out->arena,
						"branches or HEAD of the repository %s changed",
						name)
				 : arena_printf(out->arena, "the repository %s was %s", name,
						repository_change_names[nested->change]));
	}
	if (count > shown)
		add_part(out,
			 arena_printf(out->arena, "%zu more repositories changed", count - shown));
}

static void add_stashes(struct text *out, const struct report *report, size_t most)
{
	const strings *stashes = &report->other.stashes;
	struct text names = { .arena = out->arena };
	size_t shown = 0;

	vec_each(commit, stashes) {
		if (shown++ < most)
			text_printf(&names, "%s%.*s", shown > 1 ? ", " : "", DIGITS,
				    quote_word(out->arena, *commit, 0));
	}
	if (shown > most)
		text_printf(&names, " and %zu more", shown - most);
	if (stashes->count == 1)
		add_part(out,
			 arena_printf(out->arena, "1 stash was dropped: %s (`git stash store %s`)",
				      text_get(&names), text_get(&names)));
	else if (stashes->count)
		add_part(out,
			 arena_printf(out->arena,
				      "%zu stashes were dropped: %s (`git stash store COMMIT`)",
				      stashes->count, text_get(&names)));
}

static void add_settings(struct text *out, const struct report *report)
{
	struct text names = { .arena = out->arena };

	vec_each(name, &report->settings)
		text_printf(&names, "%s%s", names.length ? ", " : "",
			    quote_word(out->arena, *name, SHOWN));
	if (names.length)
		add_part(out,
			 arena_printf(out->arena, "settings of git changed: %s", text_get(&names)));
}

bool render_has_repository_changes(const struct report *report)
{
	const struct repository_changes *other = &report->other;

	return report->refs.count || report->repository_lost || report->operations.count ||
	       report->index_changed || report->settings.count || other->nested.count ||
	       other->created || other->stashes.count;
}

const char *render_repository_changes(struct arena *arena, const struct report *report, size_t most)
{
	const char *refs = list_refs(arena, report, most);
	struct text out = { .arena = arena };

	if (refs)
		add_part(&out, refs);
	if (report->other.created)
		add_part(&out, "a git repository was created");
	add_operations(&out, report);
	add_nested(&out, report, most);
	if (report->index_changed && !refs) // otherwise it follows HEAD
		add_part(&out, "what is staged changed");
	add_stashes(&out, report, most);
	add_settings(&out, report);
	return out.length ? text_get(&out) : NULL;
}
