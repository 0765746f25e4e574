// SPDX-License-Identifier: MIT
// Compares and edits the texts of git configuration files.
//
// Theory of operation: the box works with a copy of a repository's configuration. What it changes
// there is judged and then applied to the text of the host, which may have changed meanwhile. The
// parser reports the bytes of each header and entry. An edit marks entries to cut, and attaches new
// lines to the last header or entry of their section; then the text is put together again.
#include "plan/guard/config_edit.h"

#include "base/arena.h"
#include "base/text.h"
#include "plan/git/facts.h"
#include "plan/git/parse.h"
#include "plan/git/render.h"
#include "plan/git/settings.h"

#include <jansson.h>
#include <string.h>

enum { REFUSED_LIMIT = 100 };

// Values of all names in two texts. A hash table finds a name: a hostile text has many.
struct comparison {
	struct arena *arena;
	git_config_changes all;
	json_t *places; // name: its index in `all`
	bool is_after;
};

// Returns the number that belongs to a text, -1: none.
static json_int_t number_of(const json_t *table, const char *text)
{
	const json_t *number = json_object_get(table, text);

	return number ? json_integer_value(number) : -1;
}

static void set_number(json_t *table, const char *text, size_t number)
{
	json_object_set_new_nocheck(table, text, json_integer((json_int_t)number));
}

static void store_value(void *context, const char *name, const char *value)
{
	struct comparison *comparison = context;
	json_int_t place = number_of(comparison->places, name);
	struct git_config_change *change;

	if (place < 0) {
		place = (json_int_t)comparison->all.count;
		set_number(comparison->places, name, comparison->all.count);
		vec_push(comparison->arena, &comparison->all,
			 (struct git_config_change){ .name = name });
	}
	change = &comparison->all.items[place];
	vec_push(comparison->arena, comparison->is_after ? &change->after : &change->before, value);
}

bool git_config_same_values(const strings *a, const strings *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!str_equal(a->items[i], b->items[i]))
			return false;
	return true;
}

bool git_config_compare(struct arena *arena, const char *before, const char *after,
			git_config_changes *ret)
{
	struct comparison comparison = { .arena = arena, .places = json_object() };
	size_t line;
	bool ok;

	if (!git_config_parse(arena, before, store_value, &comparison, &line)) {
		json_object_clear(comparison.places);
		comparison.all.count = 0;
	}
	comparison.is_after = true;
	ok = git_config_parse(arena, after, store_value, &comparison, &line);
	vec_each(change, &comparison.all) {
		if (ok && !git_config_same_values(&change->before, &change->after))
			vec_push(arena, ret, *change);
	}
	json_decref(comparison.places);
	return ok;
}

// A header or an entry of a text that is edited.
struct item {
	struct git_config_entry entry;
	bool is_cut;
	struct text added; // lines behind it
};

struct edit {
	struct arena *arena;
	const char *text;
	VEC(struct item) items;
	json_t *last;      // section: the index of its last item
	struct text begin; // lines before everything, which belong to no section
	git_settings end;  // entries of new sections
};

static void store_item(void *context, const struct git_config_entry *entry)
{
	struct edit *edit = context;

	set_number(edit->last, entry->section, edit->items.count);
	vec_push(edit->arena, &edit->items,
		 (struct item){ .entry = *entry, .added.arena = edit->arena });
}

static bool edit_begin(struct edit *edit, struct arena *arena, const char *text)
{
	size_t line;

	*edit = (struct edit){
		.arena = arena,
		.text = text,
		.last = json_object(),
		.begin.arena = arena,
	};
	return git_config_parse_entries(arena, text, store_item, edit, &line);
}

// Returns where the line of a header ends, 0 if something else than a comment follows on it.
static size_t header_line_end(const struct edit *edit, const struct item *item)
{
	const char *s = edit->text + item->entry.end;

	s += strspn(s, " \t\r");
	if (*s && *s != '\n' && *s != '#' && *s != ';')
		return 0;
	s += strcspn(s, "\n");
	return (size_t)(s - edit->text) + (*s == '\n');
}

// Returns where new lines behind an item begin, 0: nowhere.
static size_t line_end(const struct edit *edit, const struct item *item)
{
	return item->entry.name ? item->entry.end : header_line_end(edit, item);
}

// Returns where the line of an item begins; 0 and false if something else than blanks is before it.
static bool line_start(const struct edit *edit, const struct item *item, size_t *ret)
{
	size_t start = item->entry.start;

	while (start && strchr(" \t\r", edit->text[start - 1]))
		start--;
	*ret = start;
	return !start || edit->text[start - 1] == '\n';
}

// Adds the new values of a name.
static void add_values(struct edit *edit, const struct git_config_change *change)
{
	const char *dot = strrchr(change->name, '.');
	const char *section =
		dot ? arena_strndup(edit->arena, change->name, (size_t)(dot - change->name)) : "";
	json_int_t place = number_of(edit->last, section);
	struct item *item = place < 0 ? NULL : &edit->items.items[place];

	if (!dot || (item && line_end(edit, item))) {
		vec_each(value, &change->after)
			git_render_entry(dot ? &item->added : &edit->begin,
					 dot ? dot + 1 : change->name, *value);
		return;
	}
	vec_each(value, &change->after)
		vec_push(edit->arena, &edit->end, (struct git_setting){ change->name, *value });
}

static bool is_blank_range(const char *text, size_t start, size_t end)
{
	return start >= end || strspn(text + start, " \t\r\n") >= end - start;
}

// Cuts a header if all of its entries are cut, it had some, and no comment is below it. `next` is
// the index of the next header.
static void cut_empty_header(struct edit *edit, size_t header, size_t next)
{
	struct item *items = edit->items.items;
	size_t end = next < edit->items.count ? items[next].entry.start : strlen(edit->text);
	size_t at = items[header].entry.end;
	bool is_empty = next > header + 1 && !items[header].added.length;

	for (size_t i = header + 1; is_empty && i < next; i++) {
		is_empty = items[i].is_cut && !items[i].added.length &&
			   is_blank_range(edit->text, at, items[i].entry.start);
		at = items[i].entry.end;
	}
	items[header].is_cut = is_empty && is_blank_range(edit->text, at, end);
}

static void cut_empty_headers(struct edit *edit)
{
	size_t header = edit->items.count;

	for (size_t i = 0; i <= edit->items.count; i++) {
		if (i < edit->items.count && edit->items.items[i].entry.name)
			continue;
		if (header < i)
			cut_empty_header(edit, header, i);
		header = i;
	}
}

// Stores which bytes a cut removes: the lines of the entry, or its bytes if a header is before it.
static void cut_range(const struct edit *edit, const struct item *item, size_t *start, size_t *end)
{
	const char *text = edit->text;
	size_t whole = line_end(edit, item);

	*end = whole ? whole : item->entry.end;
	if (line_start(edit, item, start) && whole)
		return;
	*start = item->entry.start;
	if (*end > *start && text[*end - 1] == '\n')
		*end -= *end - 1 > *start && text[*end - 2] == '\r' ? 2 : 1;
}

// Returns whether a new line can begin behind a text. A value at the end of a file may end with an
// escaped newline, which would make the new line a part of it.
static bool ends_line(const struct text *text)
{
	size_t length = text->length;

	if (!length)
		return true;
	if (text->data[--length] != '\n')
		return false;
	if (length && text->data[length - 1] == '\r')
		length--;
	return !length || text->data[length - 1] != '\\';
}

static void add_lines(struct text *out, const struct text *lines)
{
	if (!lines->length)
		return;
	if (!ends_line(out))
		text_add(out, "\n");
	text_add_bytes(out, text_get(lines), lines->length);
}

// Adds the text from *copied up to here.
static void copy_to(struct text *out, const struct edit *edit, size_t *copied, size_t to)
{
	if (to <= *copied)
		return;
	text_add_bytes(out, edit->text + *copied, to - *copied);
	*copied = to;
}

// Returns the edited text.
static const char *edit_finish(struct edit *edit)
{
	struct text out = { .arena = edit->arena };
	struct text last = { .arena = edit->arena };
	size_t copied = 0;

	cut_empty_headers(edit);
	if (edit->begin.length && str_starts(edit->text, GIT_BYTE_ORDER_MARK))
		copy_to(&out, edit, &copied, strlen(GIT_BYTE_ORDER_MARK));
	add_lines(&out, &edit->begin);
	vec_each(item, &edit->items) {
		size_t start;
		size_t end;

		if (item->is_cut) {
			cut_range(edit, item, &start, &end);
			copy_to(&out, edit, &copied, start);
			copied = end > copied ? end : copied;
		}
		if (item->added.length) {
			copy_to(&out, edit, &copied, line_end(edit, item));
			add_lines(&out, &item->added);
		}
	}
	copy_to(&out, edit, &copied, strlen(edit->text));
	git_render_settings(&last, &edit->end);
	add_lines(&out, &last);
	return text_get(&out);
}

// Marks the entries of changed names.
static void cut_changed(struct edit *edit, const git_config_changes *changes)
{
	json_t *names = json_object();

	vec_each(change, changes)
		set_number(names, change->name, 1);
	vec_each(item, &edit->items)
		item->is_cut = item->entry.name && number_of(names, item->entry.name) >= 0;
	json_decref(names);
}

const char *git_config_edit(struct arena *arena, const char *text,
			    const git_config_changes *changes)
{
	struct edit edit;
	const char *result = NULL;

	if (edit_begin(&edit, arena, text)) {
		cut_changed(&edit, changes);
		vec_each(change, changes)
			add_values(&edit, change);
		result = edit_finish(&edit);
	}
	json_decref(edit.last);
	return result;
}

const char *git_config_strip(struct arena *arena, const char *text,
			     const struct git_key_place *place, strings *ret_refused)
{
	struct edit edit;
	const char *result = NULL;

	if (edit_begin(&edit, arena, text)) {
		vec_each(item, &edit.items) {
			const struct git_config_entry *entry = &item->entry;

			if (!entry->name ||
			    !git_key_refusal(arena, entry->name, entry->value, place))
				continue;
			item->is_cut = true;
			git_add_once(arena, ret_refused, entry->name, REFUSED_LIMIT);
		}
		result = edit_finish(&edit);
	}
	json_decref(edit.last);
	return result;
}
