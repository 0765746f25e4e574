// SPDX-License-Identifier: MIT
// Lays out sections of items in a number of lines. What does not fit becomes a count.
#include "render/audit_fold.h"

#include "base/arena.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/width.h"
#include "config/origin.h"
#include "render/audit_parts.h"

#include <string.h>

enum {
	LABEL_COLUMNS = 16,
	NARROW_COLUMNS = 60, // on a narrower screen items follow their label directly
	NARROW_INDENT = 4,
	LIST_INDENT = 2, // of the further lines of an item
	LEAST_CUT = 16,  // columns of an item that is cut
};

// Part of a section: all items in STYLE_DANGER, and the first `shown` others. With `cut`, one more
// is shortened to what the line has room for.
struct part {
	size_t shown;
	bool cut;
};

void audit_add_item(struct arena *arena, struct audit_section *section, enum style style,
		    const char *text)
{
	vec_push(arena, &section->items, (struct audit_item){ .style = style, .text = text });
}

void audit_add_marked(struct arena *arena, struct audit_section *section, enum origin_kind kind,
		      enum style style, const char *text)
{
	vec_push(arena, &section->items,
		 (struct audit_item){ .mark = origin_marks[kind],
				      .mark_style = origin_styles[kind],
				      .style = style,
				      .text = text });
}

static bool is_red(const struct audit_item *item)
{
	return item->style == STYLE_DANGER;
}

static size_t count_foldable(const struct audit_section *section)
{
	size_t count = 0;

	vec_each(item, &section->items)
		count += !is_red(item);
	return count;
}

static size_t indent_of(const struct screen *screen)
{
	return screen_narrow(screen, NARROW_COLUMNS) ? NARROW_INDENT : LABEL_COLUMNS;
}

// Starts another line if `width` columns do not fit into this one; otherwise adds a gap. Returns
// the columns used.
static size_t make_room(struct screen *screen, size_t width, size_t gap, size_t indent, size_t used)
{
	size_t room = screen_room(screen, indent);

	if (!used)
		return 0;
	if (room && used + gap + width > room) {
		screen_end_line(screen, indent);
		return 0;
	}
	screen_add_blanks(screen, gap);
	return used + gap;
}

static size_t add_label(struct screen *screen, const struct audit_section *section)
{
	size_t indent = indent_of(screen);
	size_t width = display_width(section->label);

	screen_add(screen, section->label_style, section->label);
	if (width >= indent)
		return width - indent;
	screen_add_blanks(screen, indent - width);
	return 0;
}

// Adds an item after `used` columns. Returns the columns used.
static size_t add_item(struct screen *screen, const struct audit_section *section,
		       const struct audit_item *item, const char *mark, const char *end,
		       size_t used)
{
	// The blank after the mark disappears if the text starts in the next line.
	const char *text = arena_printf(screen->arena, "%s%s%s", mark ? " " : "", item->text, end);
	size_t indent = indent_of(screen);
	size_t further = section->list ? LIST_INDENT : 0;

	if (mark) {
		screen_add(screen, item->mark_style, mark);
		used += strlen(mark);
	}
	used = screen_add_words(screen, item->style, text, indent + further,
				used > further ? used - further : 0);
	return used + further;
}

// Returns the mark that is shown: a row of items with the same mark has it once.
static const char *mark_after(const struct audit_item *item, const struct audit_item *last)
{
	return last && str_equal(last->mark, item->mark) ? NULL : item->mark;
}

// The state of a section that is being added.
struct writer {
	struct screen *screen;
	const struct audit_section *section;
	const struct audit_item *last; // NULL: none yet
	size_t used;
};

// Returns the columns that an item needs in a line to start there: a long one may be broken after
// its first word.
static size_t needed_width(const struct screen *screen, const struct audit_item *item,
			   const char *mark, bool more)
{
	size_t room = screen_room(screen, indent_of(screen));
	size_t before = mark ? strlen(mark) + 1 : 0;
	size_t width = screen_width(screen, item->text) + more;

	if (room && before + width > room / 2)
		width = screen_first_width(screen, item->text);
	return before + width;
}

static void write_item(struct writer *writer, const struct audit_item *item, bool more)
{
	const struct audit_section *section = writer->section;
	struct screen *screen = writer->screen;
	const char *mark = section->list ? item->mark : mark_after(item, writer->last);
	bool starts_line = writer->last && (section->list || is_red(writer->last));
	size_t gap = writer->last && mark ? 2 : 1;

	if (starts_line) {
		screen_end_line(screen, indent_of(screen));
		writer->used = 0;
	} else {
		writer->used = make_room(screen, needed_width(screen, item, mark, more), gap,
					 indent_of(screen), writer->used);
	}
	writer->used = add_item(screen, section, item, mark, more && !section->list ? "," : "",
				writer->used);
	writer->last = item;
}

// Returns how the items that are not shown are counted, NULL: all are shown.
static const char *render_count(struct arena *arena, size_t hidden, bool cut)
{
	if (cut)
		hidden--;
	if (hidden)
		return arena_printf(arena, "(and %zu more: %c)", hidden, AUDIT_DETAILS);
	return cut ? arena_printf(arena, "(%c: all of it)", AUDIT_DETAILS) : NULL;
}

static const struct audit_item *next_foldable(const struct audit_section *section,
					      const struct audit_item *item)
{
	const struct audit_item *end = section->items.items + section->items.count;

	while (item < end && is_red(item))
		item++;
	return item < end ? item : NULL;
}

// Adds the beginning of an item, if possible so that the count fits into the same line.
static void write_cut(struct writer *writer, const struct audit_item *item, const char *count)
{
	struct screen *screen = writer->screen;
	struct audit_item cut = *item;
	size_t room = screen_room(screen, indent_of(screen));
	size_t before = (writer->last || !writer->used ? 0 : writer->used + 1) +
			(item->mark ? strlen(item->mark) + 1 : 0);
	size_t after = strlen(count) + 1;

	if (before + after + LEAST_CUT > room)
		after = 0;
	if (room)
		cut.text = screen_cut(screen, item->text,
				      room > before + after ? room - before - after : 1);
	write_item(writer, &cut, false);
}

static bool same_group(const struct audit_item *item, const struct audit_item *next)
{
	return next && str_equal(item->mark, next->mark);
}

static void add_part(struct screen *screen, const struct audit_section *section, struct part part)
{
	struct writer writer = { .screen = screen, .section = section };
	size_t hidden = count_foldable(section) - part.shown;
	const char *count = render_count(screen->arena, hidden, part.cut);
	const struct audit_item *item;

	writer.used = add_label(screen, section);
	vec_each(red, &section->items) {
		if (is_red(red))
			write_item(&writer, red, false);
	}
	item = next_foldable(section, section->items.items);
	for (size_t i = 0; i < part.shown; i++) {
		const struct audit_item *next = next_foldable(section, item + 1);

		write_item(&writer, item, i + 1 < part.shown && same_group(item, next));
		item = next;
	}
	if (part.cut)
		write_cut(&writer, item, count);
	if (count) {
		writer.used = make_room(screen, strlen(count), 1, indent_of(screen), writer.used);
		screen_add_words(screen, STYLE_DIM, count, indent_of(screen), writer.used);
	}
	text_add(&screen->out, "\n");
}

static size_t count_lines(const struct screen *screen, const struct audit_section *section,
			  struct part part)
{
	struct screen trial = screen_for(screen->arena, screen->reader);
	size_t lines = 0;

	trial.home = screen->home;
	add_part(&trial, section, part);
	for (const char *s = text_get(&trial.out); *s; s++)
		lines += *s == '\n';
	return lines;
}

// Returns the largest part of a section that fits into `lines` lines, or the smallest one.
static struct part choose_part(const struct screen *screen, const struct audit_section *section,
			       size_t lines)
{
	size_t all = count_foldable(section);
	size_t least = 0;
	size_t most = all ? all - 1 : 0; // with fewer items, the count takes columns too

	if (count_lines(screen, section, (struct part){ .shown = all }) <= lines)
		return (struct part){ .shown = all };
	while (least < most) {
		size_t middle = (least + most + 1) / 2;

		if (count_lines(screen, section, (struct part){ .shown = middle }) <= lines)
			least = middle;
		else
			most = middle - 1;
	}
	return (struct part){ .shown = least, .cut = least == 0 && all > 0 };
}

struct share {
	const struct audit_section *section;
	size_t red;    // lines that cannot be folded
	size_t wanted; // lines of the whole section
	size_t lines;
};

static struct share share_of(const struct screen *screen, const struct audit_section *section)
{
	size_t foldable = count_foldable(section);
	size_t least = count_lines(screen, section, (struct part){ .cut = foldable > 0 });
	bool red = foldable < section->items.count;

	return (struct share){
		.section = section,
		.red = red ? least - (foldable > 0) : 0,
		.wanted = count_lines(screen, section, (struct part){ .shown = foldable }),
		.lines = least,
	};
}

// Gives lines to the sections, each time one to a section that has the fewest and wants more.
static void distribute(struct share *shares, size_t count, size_t lines)
{
	for (size_t i = 0; i < count; i++)
		lines -= shares[i].lines < lines ? shares[i].lines : lines;
	while (lines) {
		struct share *poorest = NULL;

		for (size_t i = 0; i < count; i++)
			if (shares[i].lines < shares[i].wanted &&
			    (!poorest ||
			     shares[i].lines - shares[i].red < poorest->lines - poorest->red))
				poorest = &shares[i];
		if (!poorest)
			return;
		poorest->lines++;
		lines--;
	}
}

// Takes back the lines that a section cannot use, and gives them to the others in turn.
static void give_back(const struct screen *screen, struct share *shares, size_t count, size_t lines)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		struct part part = choose_part(screen, shares[i].section, shares[i].lines);

		shares[i].lines = count_lines(screen, shares[i].section, part);
		used += shares[i].lines;
	}
	for (size_t i = 0; i < count && used < lines; i++) {
		size_t before = shares[i].lines;
		struct part part = choose_part(screen, shares[i].section, before + (lines - used));

		shares[i].lines = count_lines(screen, shares[i].section, part);
		used += shares[i].lines - before;
	}
}

void audit_fold(struct screen *screen, const audit_sections *sections, size_t lines, size_t spare)
{
	size_t red = 0;

	struct share *shares = arena_alloc(screen->arena, (sections->count + 1) * sizeof(*shares));
	size_t count = 0;

	vec_each(section, sections) {
		if (section->items.count)
			shares[count++] = share_of(screen, section);
	}
	for (size_t i = 0; i < count; i++)
		red += shares[i].red;
	lines += red < spare ? red : spare;
	distribute(shares, count, lines);
	give_back(screen, shares, count, lines);
	for (size_t i = 0; i < count; i++)
		add_part(screen, shares[i].section,
			 choose_part(screen, shares[i].section, shares[i].lines));
}
