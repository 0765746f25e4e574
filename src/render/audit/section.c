// SPDX-License-Identifier: MIT
// A section of the short audit: a label, and items of which a part may be shown.
#include "render/audit/section.h"

#include "base/arena.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/width.h"
#include "config/origin.h"
#include "render/audit/parts.h"

#include <string.h>

enum {
	LABEL_COLUMNS = 16,
	NARROW_COLUMNS = 60, // on a narrower screen items follow their label directly
	NARROW_INDENT = 4,
	LIST_INDENT = 2, // of the further lines of an item
	LEAST_CUT = 16,  // columns of a word that is cut
	LEAST_WORDS = 4, // of an item that is shown in part
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

void audit_keep_last(struct audit_section *section)
{
	section->items.items[section->items.count - 1].kept = true;
}

bool audit_is_red(const struct audit_item *item)
{
	return item->style == STYLE_DANGER;
}

static bool is_kept(const struct audit_item *item)
{
	return item->kept || audit_is_red(item);
}

size_t audit_count_foldable(const struct audit_section *section)
{
	size_t count = 0;

	vec_each(item, &section->items)
		count += !is_kept(item);
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
// its first word, unless the section shows items whole.
static size_t needed_width(const struct screen *screen, const struct audit_section *section,
			   const struct audit_item *item, const char *mark, bool more)
{
	size_t room = screen_room(screen, indent_of(screen));
	size_t before = mark ? strlen(mark) + 1 : 0;
	size_t width = screen_width(screen, item->text) + more;

	if (room && !section->whole && before + width > room / 2)
		width = screen_first_width(screen, item->text);
	return before + width;
}

static bool has_commas(const struct audit_section *section)
{
	return !section->list && !section->prose;
}

static void write_item(struct writer *writer, const struct audit_item *item, bool more)
{
	const struct audit_section *section = writer->section;
	struct screen *screen = writer->screen;
	const char *mark = section->list ? item->mark : mark_after(item, writer->last);
	bool starts_line = writer->last && (section->list || audit_is_red(writer->last));
	size_t gap = writer->last && mark ? 2 : 1;

	if (starts_line) {
		screen_end_line(screen, indent_of(screen));
		writer->used = 0;
	} else {
		writer->used = make_room(screen, needed_width(screen, section, item, mark, more),
					 gap, indent_of(screen), writer->used);
	}
	writer->used = add_item(screen, section, item, mark, more && has_commas(section) ? "," : "",
				writer->used);
	writer->last = item;
}

// Adds the numbers of items by their nouns, and that of the others.
static void add_nouns(struct text *out, const struct audit_item *items, size_t count)
{
	size_t others = 0;

	for (size_t i = 0, next; i < count; i = next) {
		const struct audit_noun *noun = items[i].noun;

		for (next = i; next < count && items[next].noun == noun;)
			next++;
		if (noun)
			text_printf(out, "%s%zu %s", out->length ? ", " : "", next - i,
				    next - i == 1 ? noun->one : noun->many);
		else
			others += next - i;
	}
	if (others && out->length)
		text_printf(out, ", %zu other%s", others, others == 1 ? "" : "s");
}

// Returns how the items that are not shown are counted, NULL: all are shown. `nothing`: none is.
static const char *render_count(struct arena *arena, const struct audit_section *section,
				const struct audit_item *hidden, size_t count,
				struct audit_part part, bool nothing)
{
	struct text nouns = { .arena = arena };

	if (part.words) {
		hidden++;
		count--;
	}
	if (!count)
		return part.words ? arena_printf(arena, "(%s: all of it)", section->details) : NULL;
	if (part.nouns)
		add_nouns(&nouns, hidden, count);
	if (!nouns.length)
		text_printf(&nouns, nothing ? "%zu thing%s" : "%zu more", count,
			    count == 1 ? "" : "s");
	return arena_printf(arena, "(%s%s: %s)", nothing ? "" : "and ", text_get(&nouns),
			    section->details);
}

// Adds the first words of an item. A first word that is longer than a line is cut.
static void write_cut(struct writer *writer, const struct audit_item *item, size_t words)
{
	struct screen *screen = writer->screen;
	struct audit_item cut = *item;
	size_t room = screen_room(screen, indent_of(screen));
	size_t before = (writer->last || !writer->used ? 0 : writer->used + 1) +
			(item->mark ? strlen(item->mark) + 1 : 0);

	cut.text = screen_cut_words(screen, item->text, words);
	if (room && words == 1)
		cut.text = screen_cut(screen, cut.text,
				      room > before + LEAST_CUT ? room - before : LEAST_CUT);
	write_item(writer, &cut, false);
}

// Returns whether a comma separates an item from the next one.
static bool same_group(const struct audit_item *item, const struct audit_item *next)
{
	return !audit_is_red(item) && !audit_is_red(next) && str_equal(item->mark, next->mark);
}

typedef VEC(struct audit_item) item_list;

// Returns all items, kept ones first.
static item_list order_items(struct arena *arena, const struct audit_section *section)
{
	item_list list = { 0 };

	for (int kept = 1; kept >= 0; kept--)
		vec_each(item, &section->items) {
			if (is_kept(item) == kept)
				vec_push(arena, &list, *item);
		}
	return list;
}

void audit_add_part(struct screen *screen, const struct audit_section *section,
		    struct audit_part part)
{
	struct writer writer = { .screen = screen, .section = section };
	size_t hidden = audit_count_foldable(section) - part.shown;
	item_list list = order_items(screen->arena, section);
	size_t shown = list.count > hidden ? list.count - hidden : 0;
	const char *count = render_count(screen->arena, section, &list.items[shown], hidden, part,
					 !shown && !part.words);

	writer.used = add_label(screen, section);
	for (size_t i = 0; i < shown; i++)
		write_item(&writer, &list.items[i],
			   i + 1 < shown && same_group(&list.items[i], &list.items[i + 1]));
	if (part.words && shown < list.count)
		write_cut(&writer, &list.items[shown], part.words);
	if (count) {
		writer.used = make_room(screen, strlen(count), 1, indent_of(screen), writer.used);
		screen_add_words(screen, STYLE_DIM, count, indent_of(screen), writer.used);
	}
	text_add(&screen->out, "\n");
}

size_t audit_count_lines(const struct screen *screen, const struct audit_section *section,
			 struct audit_part part)
{
	struct screen trial = screen_for(screen->arena, screen->reader);
	size_t lines = 0;

	trial.home = screen->home;
	audit_add_part(&trial, section, part);
	for (const char *s = text_get(&trial.out); *s; s++)
		lines += *s == '\n';
	return lines;
}

static bool fits(const struct screen *screen, const struct audit_section *section,
		 struct audit_part part, size_t lines)
{
	return audit_count_lines(screen, section, part) <= lines;
}

// Returns how many words of the first item that is not shown fit into `lines` lines. If a section
// shows something else, only a long item is worth a part.
static size_t choose_words(const struct screen *screen, const struct audit_section *section,
			   size_t shown, size_t lines)
{
	item_list list = order_items(screen->arena, section);
	size_t kept = list.count - audit_count_foldable(section);
	const struct audit_item *item = &list.items[kept + shown];
	bool alone = !shown && !kept;
	size_t room = screen_room(screen, indent_of(screen));
	size_t most = screen_count_words(screen, item->text);
	size_t least = 0;

	if (section->whole)
		return 0;
	if (!alone && (section->prose || !room || screen_width(screen, item->text) <= room))
		return 0;
	while (least + 1 < most) {
		size_t middle = (least + most) / 2;

		if (fits(screen, section, (struct audit_part){ .shown = shown, .words = middle },
			 lines))
			least = middle;
		else
			most = middle;
	}
	if (alone)
		return least ? least : 1;
	return least >= LEAST_WORDS ? least : 0;
}

// Counts the items that are not shown by their nouns if these fit, also in the place of one item:
// so each kind is named.
static struct audit_part count_by_noun(const struct screen *screen,
				       const struct audit_section *section, struct audit_part part,
				       size_t lines)
{
	struct audit_part with = part;

	with.nouns = true;
	if (fits(screen, section, with, lines))
		return with;
	if (part.words || part.shown < 2)
		return part;
	with.shown--;
	return fits(screen, section, with, lines) ? with : part;
}

struct audit_part audit_choose_part(const struct screen *screen,
				    const struct audit_section *section, size_t lines)
{
	size_t all = audit_count_foldable(section);
	struct audit_part part = { 0 };
	size_t most = all ? all - 1 : 0; // with fewer items, the count takes columns too

	if (fits(screen, section, (struct audit_part){ .shown = all }, lines))
		return (struct audit_part){ .shown = all };
	while (part.shown < most) {
		size_t middle = (part.shown + most + 1) / 2;

		if (fits(screen, section, (struct audit_part){ .shown = middle }, lines))
			part.shown = middle;
		else
			most = middle - 1;
	}
	if (all)
		part.words = choose_words(screen, section, part.shown, lines);
	return count_by_noun(screen, section, part, lines);
}
