// SPDX-License-Identifier: MIT
// What a session changed, and what an undo will do, for people.
#include "render/changes.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/width.h"
#include "plan/report/change.h"
#include "render/instances.h"

#include <string.h>

enum {
	INDENT = 2,
	MOST_SIGNS = 40,
	MOST_ROWS = 20,
	NAME_COLUMNS = 50,
	EFFECT_COLUMNS = 9,
	PATH_COLUMNS = 40, // in a list of paths
	LINE_COLUMNS = 60, // of a list of paths
};

static enum style patch_style(const char *line)
{
	if (str_starts(line, "+++ ") || str_starts(line, "--- ") || str_starts(line, "diff --git"))
		return STYLE_HEAD;
	return *line == '+'   ? STYLE_GOOD
	       : *line == '-' ? STYLE_DANGER
	       : *line == '@' ? STYLE_ALLOWED
			      : STYLE_PLAIN;
}

const char *render_patch(struct arena *arena, const char *patch, size_t length,
			 struct reader reader)
{
	struct screen screen = screen_for(arena, reader);
	const char *end = patch + length;

	while (patch < end) {
		const char *newline = memchr(patch, '\n', (size_t)(end - patch));
		size_t line = (size_t)((newline ? newline : end) - patch);

		screen_add(&screen, patch_style(patch), quote_line(arena, patch, line));
		text_add(&screen.out, "\n");
		patch += line + 1;
	}
	return text_get(&screen.out);
}

const char *render_change_counts(struct arena *arena, const file_changes *changes)
{
	size_t added = 0, removed = 0;
	bool counted = false;

	vec_each(change, changes) {
		counted |= change->counted;
		added += change->added;
		removed += change->removed;
	}
	if (!counted)
		return arena_printf(arena, "%s changed",
				    render_count(arena, changes->count, "file"));
	return arena_printf(arena, "%s changed, %s, %s",
			    render_count(arena, changes->count, "file"),
			    render_count(arena, added, "insertion"),
			    render_count(arena, removed, "deletion"));
}

// Returns how often a sign is shown for a number of lines.
static size_t scale(size_t lines, size_t most, size_t signs)
{
	if (most <= signs || !lines)
		return lines;
	return lines * signs / most ? lines * signs / most : 1;
}

static void add_signs(struct screen *screen, enum style style, char sign, size_t count)
{
	char signs[MOST_SIGNS + 1];

	count = count > MOST_SIGNS ? MOST_SIGNS : count;
	memset(signs, sign, count);
	signs[count] = '\0';
	screen_add(screen, style, signs);
}

static void add_statistic(struct screen *screen, const struct file_change *change, size_t columns,
			  size_t most)
{
	struct arena *arena = screen->arena;
	const char *name = screen_cut(screen, quote_word(arena, change->path, 0), NAME_COLUMNS);
	size_t width = screen_width(screen, name);
	size_t signs = screen_room(screen, columns + 12);

	signs = !signs || signs > MOST_SIGNS ? MOST_SIGNS : signs;
	screen_add(screen, STYLE_PLAIN, " ");
	screen_add(screen, STYLE_PLAIN, name);
	screen_add_blanks(screen, columns > width ? columns - width : 0);
	if (!change->counted || change->binary) {
		screen_add(screen, STYLE_PLAIN, change->binary ? " | binary\n" : " |\n");
		return;
	}
	screen_add(screen, STYLE_PLAIN,
		   arena_printf(arena, " | %5zu ", change->added + change->removed));
	add_signs(screen, STYLE_GOOD, '+', scale(change->added, most, signs));
	add_signs(screen, STYLE_DANGER, '-', scale(change->removed, most, signs));
	text_add(&screen->out, "\n");
}

void render_statistics_add(struct screen *screen, const file_changes *changes)
{
	size_t columns = 0, most = 0;

	vec_each(change, changes) {
		size_t width = screen_width(screen, quote_word(screen->arena, change->path, 0));

		columns = width > columns ? width : columns;
		most = change->added + change->removed > most ? change->added + change->removed
							      : most;
	}
	columns = columns > NAME_COLUMNS ? NAME_COLUMNS : columns;
	vec_each(change, changes)
		add_statistic(screen, change, columns, most);
}

const char *render_statistics(struct arena *arena, const file_changes *changes,
			      struct reader reader)
{
	struct screen screen = screen_for(arena, reader);

	render_statistics_add(&screen, changes);
	screen_add_wrapped(&screen, STYLE_PLAIN, render_change_counts(arena, changes), 0);
	return text_get(&screen.out);
}

const char *render_some_paths(struct arena *arena, const strings *paths, size_t count)
{
	struct text out = { .arena = arena };
	size_t shown = 0;

	for (; shown < paths->count; shown++) {
		const char *path = quote_word(arena, paths->items[shown], PATH_COLUMNS);

		if (shown && out.length + strlen(path) > LINE_COLUMNS)
			break;
		text_printf(&out, "%s%s", shown ? ", " : "", path);
	}
	if (shown < count)
		text_printf(&out, "%s%zu more", shown ? " and " : "", count - shown);
	return text_get(&out);
}

static void add_undo_row(struct screen *screen, const struct undo_row *row)
{
	struct arena *arena = screen->arena;
	const char *effect = row->effect ? row->effect : "leave";
	struct text name = { .arena = arena };

	text_printf(&name, "%s%s%s", row->what ? row->what : "", row->what && row->path ? " " : "",
		    row->path ? quote_word(arena, row->path, 0) : "");
	if (row->to)
		text_printf(&name, " to %s", row->to);
	if (row->why)
		text_printf(&name, " (%s)", row->why);
	screen_add_blanks(screen, INDENT);
	screen_add(screen, row->effect ? STYLE_PLAIN : STYLE_WARN,
		   arena_printf(arena, "%-*s", EFFECT_COLUMNS, effect));
	screen_add_broken(screen, STYLE_PLAIN, text_get(&name), INDENT + EFFECT_COLUMNS,
			  INDENT + EFFECT_COLUMNS);
	screen_end_line(screen, 0);
}

const char *render_ref_kind(const char *name)
{
	static const struct {
		const char *prefix;
		const char *kind;
	} kinds[] = { { "refs/heads/", "branch" },
		      { "refs/tags/", "tag" },
		      { "refs/remotes/", "remote branch" },
		      { "refs/stash", "stash" } };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_starts(name, kinds[i].prefix))
			return kinds[i].kind;
	return str_equal(name, "HEAD") ? "HEAD" : "reference";
}

const char *render_ref_name(const char *name)
{
	static const char *const prefixes[] = { "refs/heads/", "refs/tags/", "refs/remotes/",
						"refs/" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_after(name, prefixes[i]))
			return str_after(name, prefixes[i]);
	return name;
}

// Returns how many rows of a kind (NULL: files) have an effect.
static size_t count_rows(const struct undo_view *view, const char *what)
{
	size_t count = 0;

	vec_each(row, &view->rows)
		count += row->effect && str_equal(row->what, what);
	return count;
}

const char *render_undo_count(struct arena *arena, const struct undo_view *view)
{
	static const struct {
		const char *what; // NULL: a file
		const char *one;  // NULL: it is not counted
		const char *more;
	} kinds[] = { { NULL, "file", "files" }, { "branch", "branch", "branches" },
		      { "tag", "tag", "tags" },  { "reference", "reference", "references" },
		      { "HEAD", NULL, NULL },    { "git's index", NULL, NULL } };
	strings parts = { 0 };
	struct text out = { .arena = arena };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t count = count_rows(view, kinds[i].what);

		if (count)
			vec_push(arena, &parts,
				 kinds[i].one
					 ? arena_printf(arena, "%zu %s", count,
							count == 1 ? kinds[i].one : kinds[i].more)
					 : kinds[i].what);
	}
	for (size_t i = 0; i < parts.count; i++)
		text_printf(&out, "%s%s",
			    !i                    ? ""
			    : i + 1 < parts.count ? ", "
						  : " and ",
			    parts.items[i]);
	return parts.count ? text_get(&out) : "no file";
}

const char *render_undo(struct arena *arena, const struct undo_view *view, struct reader reader)
{
	struct screen screen = screen_for(arena, reader);
	size_t shown = 0, left = 0;

	screen_add_wrapped(&screen, STYLE_HEAD,
			   arena_printf(arena, "Take back %s: %s", view->what,
					render_undo_count(arena, view)),
			   0);
	vec_each(row, &view->rows) {
		if (row->effect && shown++ < MOST_ROWS)
			add_undo_row(&screen, row);
	}
	if (shown > MOST_ROWS)
		screen_add_wrapped(&screen, STYLE_DIM,
				   arena_printf(arena, "  and %zu more", shown - MOST_ROWS),
				   INDENT);
	vec_each(row, &view->rows) {
		if (!row->effect && left++ < MOST_ROWS)
			add_undo_row(&screen, row);
	}
	if (left > MOST_ROWS)
		screen_add_wrapped(&screen, STYLE_DIM,
				   arena_printf(arena, "  and %zu more are left as they are",
						left - MOST_ROWS),
				   INDENT);
	vec_each(note, &view->notes)
		screen_add_wrapped(&screen, STYLE_PLAIN, *note, 0);
	return text_get(&screen.out);
}
