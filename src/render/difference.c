// SPDX-License-Identifier: MIT
// A short difference between two files with untrusted content, of which a bounded part was read.
//
// Theory of operation: lines at both ends that are equal are skipped. Of the rest the longest
// common subsequence is computed, if its table is small; otherwise all lines count as replaced.
// Lines are compared as they are and shown from a copy in which secrets are masked: a configuration
// may have a password in an address.
#include "render/difference.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/text.h"
#include "base/width.h"
#include "plan/secrets/detect.h"

#include <string.h>

// The table takes two bytes for each cell. A line that is longer than LINE_BYTES is cut.
enum { CELLS_MAX = 1000 * 1000, LINE_BYTES = 160, TAB = 8 };

const char *const sample_kind_names[SAMPLE_KIND_COUNT] = {
	[SAMPLE_MISSING] = "missing",     [SAMPLE_FILE] = "file", [SAMPLE_PROGRAM] = "program",
	[SAMPLE_DIRECTORY] = "directory", [SAMPLE_LINK] = "link", [SAMPLE_FIFO] = "fifo",
	[SAMPLE_OTHER] = "other",
};

struct line {
	const char *bytes;
	const char *shown; // without secrets, of the same length
	size_t length;
};
typedef VEC(struct line) lines;

struct builder {
	struct arena *arena;
	struct difference result;
	const struct line *before;
	const struct line *after;
	size_t skipped;   // lines that are equal at the beginning
	size_t last_line; // number of the last line that was shown, in `after`
	bool headings;    // the place is not empty: show where the lines are
};

// Returns a copy in which the bytes of secrets are asterisks.
static char *mask_secrets(struct arena *arena, const char *text, size_t length)
{
	char *masked = arena_strndup(arena, text, length);
	size_t at = 0, start, found;

	while (at < length && secret_find(masked + at, &start, &found)) {
		if (!found)
			break;
		for (size_t i = at + start; i < at + start + found && i < length; i++)
			if (masked[i] != '\n')
				masked[i] = '*';
		at += start + found;
	}
	return masked;
}

static lines split(struct arena *arena, const struct sample *sample)
{
	const char *shown = sample->length ? mask_secrets(arena, sample->bytes, sample->length)
					   : "";
	lines list = { 0 };
	size_t at = 0;

	while (at < sample->length) {
		const char *end = memchr(sample->bytes + at, '\n', sample->length - at);
		size_t length = end ? (size_t)(end - sample->bytes) - at : sample->length - at;

		vec_push(arena, &list,
			 (struct line){ .bytes = sample->bytes + at,
					.shown = shown + at,
					.length = length });
		at += length + 1;
	}
	return list;
}

static bool lines_equal(const struct line *a, const struct line *b)
{
	return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

static void add_text(struct builder *builder, char sign, const char *text)
{
	if (builder->result.lines.count < DIFFERENCE_MAX)
		vec_push(builder->arena, &builder->result.lines,
			 arena_printf(builder->arena, "%c%s", sign, text));
	else
		builder->result.more++;
}

// Returns text escaped for display. A tab is blanks, as a terminal shows it without the sign.
static const char *escape_line(struct arena *arena, const char *text)
{
	struct text out = { .arena = arena };

	for (;;) {
		size_t length = strcspn(text, "\t");

		text_add(&out, quote_display(arena, arena_strndup(arena, text, length), 0));
		if (!text[length])
			return text_get(&out);
		text_printf(&out, "%*s", (int)(TAB - display_width(text_get(&out)) % TAB), "");
		text += length + 1;
	}
}

// Adds bytes, escaped and cut at the start of a character: a line of a file, or a name.
static void add_bytes(struct builder *builder, char sign, const char *bytes, size_t length,
		      bool is_line)
{
	size_t cut = length > LINE_BYTES ? LINE_BYTES : length;
	const char *text;

	while (cut < length && cut && ((unsigned char)bytes[cut] & 0xc0) == 0x80)
		cut--;
	if (builder->result.lines.count == DIFFERENCE_MAX) {
		builder->result.more++;
		return;
	}
	text = arena_strndup(builder->arena, bytes, cut);
	text = is_line ? escape_line(builder->arena, text) : quote_display(builder->arena, text, 0);
	if (cut < length)
		text = arena_printf(builder->arena, "%s... (%zu bytes)", text, length);
	add_text(builder, sign, text);
}

// Adds a line of one side. `number` is its number, or that of the next one, in `after`.
static void add_line(struct builder *builder, char sign, const struct line *line, size_t number)
{
	if (builder->headings && number > builder->last_line + 1 &&
	    builder->result.lines.count < DIFFERENCE_MAX)
		add_text(builder, '@', arena_printf(builder->arena, " line %zu", number));
	builder->last_line = number;
	add_bytes(builder, sign, line->shown, line->length, true);
}

// Computes the length of the longest common subsequence of each pair of ends.
static uint16_t *build_table(struct builder *builder, size_t m, size_t n)
{
	uint16_t *table = arena_alloc(builder->arena, (m + 1) * (n + 1) * sizeof(*table));

	for (size_t i = m; i-- > 0;)
		for (size_t j = n; j-- > 0;) {
			uint16_t down = table[(i + 1) * (n + 1) + j];
			uint16_t right = table[i * (n + 1) + j + 1];
			uint16_t best = down > right ? down : right;

			if (lines_equal(&builder->before[i], &builder->after[j]))
				best = (uint16_t)(table[(i + 1) * (n + 1) + j + 1] + 1);
			table[i * (n + 1) + j] = best;
		}
	return table;
}

// Adds the lines that differ between `m` and `n` lines.
static void add_changes(struct builder *builder, size_t m, size_t n)
{
	uint16_t *table = n && m <= CELLS_MAX / n ? build_table(builder, m, n) : NULL;
	size_t i = 0, j = 0;

	while (i < m || j < n) {
		if (table && i < m && j < n &&
		    lines_equal(&builder->before[i], &builder->after[j])) {
			i++;
			j++;
		} else if (i < m && (j == n || !table ||
				     table[(i + 1) * (n + 1) + j] >= table[i * (n + 1) + j + 1])) {
			add_line(builder, '-', &builder->before[i++], builder->skipped + j + 1);
		} else {
			add_line(builder, '+', &builder->after[j], builder->skipped + j + 1);
			j++;
		}
	}
}

static void compare_texts(struct builder *builder, const struct sample *before,
			  const struct sample *after)
{
	lines old = split(builder->arena, before);
	lines new = split(builder->arena, after);
	size_t first = 0, last = 0;

	while (first < old.count &&
	       first < new.count &&lines_equal(&old.items[first], &new.items[first]))
		first++;
	while (first + last < old.count &&
	       first + last < new.count &&lines_equal(&old.items[old.count - 1 - last],
						      &new.items[new.count - 1 - last]))
		last++;
	builder->before = old.items + first;
	builder->after = new.items + first;
	builder->skipped = first;
	add_changes(builder, old.count - first - last, new.count - first - last);
	builder->result.incomplete = before->length < before->size || after->length < after->size;
}

static bool is_file(const struct sample *sample)
{
	return sample->kind == SAMPLE_FILE || sample->kind == SAMPLE_PROGRAM;
}

static bool is_binary(const struct sample *sample)
{
	return is_file(sample) && sample->bytes && memchr(sample->bytes, '\0', sample->length);
}

static bool samples_equal(const struct sample *before, const struct sample *after)
{
	if (is_file(before) && is_file(after))
		return before->bytes && after->bytes && before->size == after->size &&
		       before->length == before->size && after->length == after->size &&
		       memcmp(before->bytes, after->bytes, after->length) == 0;
	return before->kind == after->kind && before->kind == SAMPLE_LINK &&
	       str_equal(before->target, after->target);
}

struct difference difference_build(struct arena *arena, const struct sample *before,
				   const struct sample *after)
{
	static const struct sample nothing = { .bytes = "" };
	struct builder builder = { .arena = arena, .headings = is_file(before) && before->length };

	builder.result.equal = samples_equal(before, after);
	builder.result.binary = is_binary(before) || is_binary(after);
	if (builder.result.equal || builder.result.binary)
		return builder.result;
	if (is_file(after) && after->bytes)
		compare_texts(&builder, is_file(before) && before->bytes ? before : &nothing,
			      after);
	if (before->kind == SAMPLE_LINK && after->kind == SAMPLE_LINK)
		add_bytes(&builder, '-', before->target, strlen(before->target), false);
	if (after->kind == SAMPLE_LINK)
		add_bytes(&builder, '+', after->target, strlen(after->target), false);
	if (after->kind == SAMPLE_DIRECTORY) {
		vec_each(file, &after->files)
			add_bytes(&builder, '+', *file, strlen(*file), false);
		builder.result.more += after->count - after->files.count;
		builder.result.incomplete = after->incomplete;
	}
	return builder.result;
}
