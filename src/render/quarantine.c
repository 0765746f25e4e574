// SPDX-License-Identifier: MIT
// The list of --quarantine as text and as JSON.
#include "render/quarantine.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/screen.h"
#include "base/text.h"
#include "render/instances.h"

enum { INDENT = 4 };

// Returns kind and size.
static const char *describe(struct arena *arena, const struct sample *sample)
{
	const char *least = sample->incomplete ? "at least " : "";

	switch (sample->kind) {
	case SAMPLE_FILE:
		return arena_printf(arena, "a file of %s", render_size(arena, sample->size));
	case SAMPLE_PROGRAM:
		return arena_printf(arena, "an executable file of %s",
				    render_size(arena, sample->size));
	case SAMPLE_DIRECTORY:
		return arena_printf(arena, "a directory with %s%s of %s%s", least,
				    render_count(arena, sample->count, "file"), least,
				    render_size(arena, sample->size));
	case SAMPLE_LINK:
		return "a symbolic link";
	case SAMPLE_FIFO:
		return "a FIFO";
	default:
		return "a socket or a device";
	}
}

static const char *describe_place(struct arena *arena, const struct quarantine_row *row)
{
	if (row->obstacle)
		return arena_printf(arena, "it cannot be put back: %s", row->obstacle);
	if (row->present.kind == SAMPLE_MISSING)
		return "nothing is at its place now";
	if (row->in_part)
		return row->settings
			       ? "putting it back changes these lines of the file at its place"
			       : "the file at its place has its settings";
	if (row->difference.equal)
		return "the same is at its place now";
	return arena_printf(arena, "%s is at its place now", describe(arena, &row->present));
}

static void add_note(struct screen *screen, const char *text)
{
	screen_add_blanks(screen, INDENT);
	screen_add_words(screen, STYLE_DIM, text, INDENT, INDENT);
	screen_end_line(screen, 0);
}

static void add_difference(struct screen *screen, const struct quarantine_row *row)
{
	const struct difference *difference = &row->difference;
	struct arena *arena = screen->arena;

	if (difference->binary)
		add_note(screen, "(binary content)");
	if (row->item.problem)
		add_note(screen, arena_printf(arena, "(cannot be read: %s)", row->item.problem));
	vec_each(line, &difference->lines) {
		enum style style = **line == '+'   ? STYLE_GOOD
				   : **line == '-' ? STYLE_WARN
						   : STYLE_DIM;

		screen_add_blanks(screen, INDENT);
		screen_add_broken(screen, style, *line, INDENT + 1, INDENT);
		screen_end_line(screen, 0);
	}
	if (difference->incomplete && !difference->more)
		add_note(screen, "(and more)");
	else if (difference->more)
		add_note(screen,
			 arena_printf(arena, "(and %s%zu more %s%s)",
				      difference->incomplete ? "at least " : "", difference->more,
				      row->item.kind == SAMPLE_DIRECTORY ? "file" : "line",
				      difference->more == 1 ? "" : "s"));
}

static void add_row(struct screen *screen, const struct quarantine_row *row)
{
	struct arena *arena = screen->arena;
	const char *path = path_tilde(arena, row->path, screen->home);

	screen_add_broken(screen, STYLE_HEAD,
			  arena_printf(arena, "%zu  %s", row->number, quote_word(arena, path, 0)),
			  INDENT, 0);
	screen_end_line(screen, INDENT);
	screen_add_wrapped(screen, STYLE_PLAIN,
			   arena_printf(arena, "%s, moved %s: %s; %s; %s", row->id, row->moved,
					quote_display(arena, row->why, 0),
					describe(arena, &row->item), describe_place(arena, row)),
			   INDENT);
	screen_add_blanks(screen, INDENT);
	screen_add_broken(screen, STYLE_PLAIN,
			  quote_word(arena, path_tilde(arena, row->file, screen->home), 0), INDENT,
			  0);
	screen_end_line(screen, 0);
	add_difference(screen, row);
}

static struct screen open_screen(struct arena *arena, const char *home, struct reader reader)
{
	struct screen screen = screen_for(arena, reader);

	screen.home = home;
	return screen;
}

const char *render_quarantine(struct arena *arena, const quarantine_rows *rows, const char *home,
			      struct reader reader)
{
	struct screen screen = open_screen(arena, home, reader);

	vec_each(row, rows)
		add_row(&screen, row);
	screen_add_wrapped(&screen, STYLE_PLAIN,
			   rows->count
				   ? "`claudebox --quarantine=N` puts an item back, "
				     "`claudebox --quarantine=clear` removes all. Both ask first."
				   : "the quarantine of this project is empty",
			   0);
	return text_get(&screen.out);
}

const char *render_quarantine_row(struct arena *arena, const struct quarantine_row *row,
				  const char *home, struct reader reader)
{
	struct screen screen = open_screen(arena, home, reader);

	add_row(&screen, row);
	return text_get(&screen.out);
}

static json_t *sample_value(struct arena *arena, const struct sample *sample)
{
	if (sample->kind == SAMPLE_MISSING)
		return json_null();
	return json_pack("{s:s, s:I, s:b, s:I, s:o}", "kind", sample_kind_names[sample->kind],
			 "size", (json_int_t)sample->size, "size_complete",
			 (int)!sample->incomplete, "files", (json_int_t)sample->count, "target",
			 render_path_value(arena, sample->target));
}

static json_t *difference_value(const struct difference *difference)
{
	json_t *list = json_array();

	vec_each(line, &difference->lines)
		json_array_append_new(list, json_string(*line));
	return json_pack("{s:b, s:b, s:o, s:I, s:b}", "equal", difference->equal, "binary",
			 difference->binary, "lines", list, "more", (json_int_t)difference->more,
			 "complete", (int)!difference->incomplete);
}

const char *render_quarantine_json(struct arena *arena, const quarantine_rows *rows)
{
	json_t *items = json_array();
	JSON_OWNED *all = NULL;

	vec_each(row, rows)
		json_array_append_new(
			items,
			json_pack(
				"{s:I, s:s, s:o, s:o, s:s, s:I, s:b, s:o, s:o, s:o, s:s?, s:s?, s:o}",
				"number", (json_int_t)row->number, "id", row->id, "path",
				render_path_value(arena, row->path), "file",
				render_path_value(arena, row->file), "why", row->why, "moved_ms",
				(json_int_t)row->moved_ms, "copied", row->copied, "item",
				sample_value(arena, &row->item), "present",
				sample_value(arena, &row->present), "settings",
				row->in_part ? json_integer((json_int_t)row->settings)
					     : json_null(),
				"obstacle", row->obstacle, "problem", row->item.problem,
				"difference", difference_value(&row->difference)));
	all = json_pack("{s:i, s:o}", "version", 1, "items", items);
	return json_write(arena, all, JSON_INDENT(2) | JSON_ENSURE_ASCII);
}
