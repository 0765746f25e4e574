// SPDX-License-Identifier: MIT
// Renders the result of --check: grouped for a terminal, one line each for a pipe, or JSON.
#include "render/check.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/width.h"
#include "plan/plan.h"
#include "render/audit/toolchains.h"
#include "render/json.h"

enum { NARROW_COLUMNS = 60, INDENT = 4, STATE_COLUMNS = 8, NAME_COLUMNS = 10 };

static const struct {
	const char *name;
	enum style style;
} state_rows[FINDING_COUNT] = {
	[FINDING_OK] = { "ok", STYLE_GOOD },
	[FINDING_MISSING] = { "missing", STYLE_WARN },
	[FINDING_BROKEN] = { "broken", STYLE_DANGER },
};

// Returns whether no box starts because of this row.
static bool prevents_start(const struct finding_row *row)
{
	return row->found.state != FINDING_OK && !row->found.starts_without && row->required;
}

size_t findings_to_fix(const finding_rows *rows)
{
	size_t count = 0;

	vec_each(row, rows)
		count += prevents_start(row);
	return count;
}

static const char *render_detail(struct arena *arena, const struct finding_row *row)
{
	if (row->found.state == FINDING_OK || prevents_start(row))
		return row->found.detail;
	return arena_printf(arena, "%s (not needed)", row->found.detail);
}

static const char *render_fix(struct arena *arena, const struct finding_row *row)
{
	if (row->found.state == FINDING_OK || !row->found.fix)
		return NULL;
	return arena_printf(arena, "fix: %s", row->found.fix);
}

static const char *render_summary(struct arena *arena, const finding_rows *rows)
{
	size_t count = findings_to_fix(rows);

	if (!count)
		return "claudebox can start here";
	return arena_printf(arena, "claudebox cannot start here: %zu problem%s to fix", count,
			    count == 1 ? "" : "s");
}

static void add_row(struct screen *screen, const struct finding_row *row)
{
	const char *name = state_rows[row->found.state].name;
	bool narrow = screen_narrow(screen, NARROW_COLUMNS);
	size_t margin = screen->reader.terminal ? 2 : 0; // below a heading
	size_t indent = narrow ? INDENT : margin + STATE_COLUMNS + 1 + NAME_COLUMNS + 1;
	const char *fix = render_fix(screen->arena, row);

	screen_add_blanks(screen, margin);
	screen_add(screen, state_rows[row->found.state].style, name);
	screen_add_blanks(screen, STATE_COLUMNS + 1 - display_width(name));
	if (narrow) {
		text_add(&screen->out, row->name);
		screen_end_line(screen, indent);
	} else {
		text_printf(&screen->out, "%-*s ", NAME_COLUMNS, row->name);
	}
	screen_add_wrapped(screen, STYLE_PLAIN, render_detail(screen->arena, row), indent);
	if (!fix)
		return;
	screen_add_blanks(screen, indent);
	screen_add_wrapped(screen, prevents_start(row) ? STYLE_HEAD : STYLE_DIM, fix, indent);
}

// Renders the group of row `first`, unless an earlier row belongs to it.
static void add_group(struct screen *screen, const finding_rows *rows,
		      const struct finding_row *first)
{
	for (const struct finding_row *row = rows->items; row < first; row++) {
		if (str_equal(row->group, first->group))
			return; // this group is rendered already
	}
	screen_add(screen, STYLE_HEAD, first->group);
	text_add(&screen->out, "\n");
	vec_each(row, rows) {
		if (str_equal(row->group, first->group))
			add_row(screen, row);
	}
	text_add(&screen->out, "\n");
}

// Adds a line on something that the box lacks.
static void add_left_out_line(struct screen *screen, const char *text)
{
	if (screen->reader.terminal)
		screen_add_blanks(screen, 2);
	else
		text_printf(&screen->out, "%-*s %-*s ", STATE_COLUMNS, "outside", NAME_COLUMNS,
			    "left_out");
	screen_add_wrapped(screen, STYLE_PLAIN, text, INDENT);
}

// Adds what the user has outside and the box lacks. Where all is there, nothing is added.
static void add_left_out(struct screen *screen, const struct check_plan *plan)
{
	if (plan->plan && !plan->plan->left_out.count)
		return;
	if (screen->reader.terminal)
		screen_add(screen, STYLE_HEAD, "Not in the box");
	if (screen->reader.terminal)
		text_add(&screen->out, "\n");
	if (plan->plan) {
		vec_each(row, &plan->plan->left_out)
			add_left_out_line(screen, render_left_out(screen->arena, row, true));
	} else {
		add_left_out_line(screen, arena_printf(screen->arena,
						       "not known, because no box starts here: %s",
						       plan->problem));
	}
	if (screen->reader.terminal)
		text_add(&screen->out, "\n");
}

const char *render_check(struct arena *arena, const finding_rows *rows,
			 const struct check_plan *plan, struct reader reader)
{
	struct screen screen = screen_for(arena, reader);

	vec_each(row, rows) {
		if (reader.terminal)
			add_group(&screen, rows, row);
		else
			add_row(&screen, row);
	}
	add_left_out(&screen, plan);
	screen_add_wrapped(&screen, findings_to_fix(rows) ? STYLE_DANGER : STYLE_GOOD,
			   render_summary(arena, rows), 0);
	return text_get(&screen.out);
}

const char *render_check_json(struct arena *arena, const finding_rows *rows,
			      const struct check_plan *plan)
{
	size_t to_fix = findings_to_fix(rows);
	json_t *list = json_array();
	JSON_OWNED *all = NULL;

	vec_each(row, rows)
		json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:s, s:s?, s:s}", "name",
						      row->name, "state",
						      state_rows[row->found.state].name, "required",
						      row->required, "detail", row->found.detail,
						      "fix", row->found.fix, "group", row->group));
	all = json_pack("{s:i, s:b, s:I, s:o, s:o}", "version", 1, "starts", !to_fix, "to_fix",
			(json_int_t)to_fix, "checks", list, "left_out",
			plan->plan ? json_left_out(arena, plan->plan) : json_null());
	return json_write(arena, all, JSON_INDENT(2) | JSON_ENSURE_ASCII);
}
