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
	FEWEST_ROWS = 3,
	QUESTION_ROWS = 2, // it may wrap
	NAME_COLUMNS = 50,
	EFFECT_COLUMNS = 9,
	PATH_COLUMNS = 40, // in a list of paths
	LINE_COLUMNS = 60, // of a list of paths
	LAST_COLUMNS = 80, // with the last path, in the place of "and 1 more"
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

		size_t most = shown + 1 == count ? LAST_COLUMNS : LINE_COLUMNS;

		if (shown && out.length + strlen(path) > most)
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

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

// Renders the rows that have an effect, or those that are left.
static strings render_rows(struct arena *arena, const struct undo_view *view, struct reader reader,
			   bool effect)
{
	strings rows = { 0 };

	vec_each(row, &view->rows) {
		struct screen screen = screen_for(arena, reader);

		if ((row->effect != NULL) != effect)
			continue;
		add_undo_row(&screen, row);
		vec_push(arena, &rows, text_get(&screen.out));
	}
	return rows;
}

static void add_more(struct screen *screen, size_t count, const char *more)
{
	screen_add_wrapped(screen, STYLE_DIM,
			   arena_printf(screen->arena, "  and %zu more%s", count, more), INDENT);
}

// Adds the first rows, and how many more there are.
static void add_some(struct screen *screen, const strings *rows, size_t most, const char *more)
{
	for (size_t i = 0; i < rows->count && i < most; i++)
		text_add(&screen->out, rows->items[i]);
	if (rows->count > most)
		add_more(screen, rows->count - most, more);
}

// Adds the rows that the screen has room for: beside `used` lines, and the question below.
static void add_fitting(struct screen *screen, const strings *rows, size_t used, const char *list)
{
	const char *more = arena_printf(screen->arena, ": `%s` lists all", list);
	struct screen last = screen_for(screen->arena, screen->reader);
	size_t room = screen->reader.rows, all = 0, lines = 0, shown = 0;

	add_more(&last, rows->count, more);
	vec_each(row, rows)
		all += count_lines(*row);
	used += QUESTION_ROWS;
	if (used + all > room)
		used += count_lines(text_get(&last.out));
	while (shown < rows->count &&
	       (shown < FEWEST_ROWS || lines + count_lines(rows->items[shown]) + used <= room))
		lines += count_lines(rows->items[shown++]);
	add_some(screen, rows, shown, more);
}

const char *render_undo(struct arena *arena, const struct undo_view *view, struct reader reader,
			enum undo_length length)
{
	struct screen screen = screen_for(arena, reader), notes = screen_for(arena, reader);
	strings rows = render_rows(arena, view, reader, true);
	strings left = render_rows(arena, view, reader, false);

	screen_add_wrapped(&screen, STYLE_HEAD,
			   arena_printf(arena, "Take back %s: %s", view->what,
					render_undo_count(arena, view)),
			   0);
	vec_each(note, &view->notes)
		screen_add_wrapped(&notes, STYLE_PLAIN, *note, 0);
	if (length == UNDO_SCREEN && reader.rows) {
		vec_each(row, &left)
			vec_push(arena, &rows, *row);
		add_fitting(&screen, &rows,
			    count_lines(text_get(&screen.out)) + count_lines(text_get(&notes.out)),
			    view->list);
	} else {
		size_t most = length == UNDO_ALL ? view->rows.count : MOST_ROWS;

		add_some(&screen, &rows, most, "");
		add_some(&screen, &left, most, " are left as they are");
	}
	text_add(&screen.out, text_get(&notes.out));
	return text_get(&screen.out);
}
