// SPDX-License-Identifier: MIT
// The generated parts of the manual and the completions match the option table, and that of
// doc/guard.md the table of protected places; UPDATE_GOLDEN=1 writes them.
#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "check.h"
#include "config/documents.h"
#include "config/options/table.h"
#include "plan/guard/places.h"

#include <stdlib.h>
#include <string.h>

static struct arena arena;

#define PLACES_BEGIN "<!-- generated from src/plan/guard/places.c by `make accept` -->\n"
#define PLACES_END   "<!-- end of the generated part -->\n"

static const char *place_of(const char *path)
{
	const char *source = getenv("SOURCE");

	return path_join(&arena, source ? source : ".", path);
}

static const char *read_text(const char *path)
{
	struct text out = { .arena = &arena };
	FILE *file = fopen(path, "re");
	char bytes[4096];
	size_t count;

	while (file && (count = fread(bytes, 1, sizeof(bytes), file)) > 0)
		text_add_bytes(&out, bytes, count);
	if (file)
		fclose(file);
	return text_get(&out);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	CHECK_CASE(file && fputs(text, file) >= 0 && fclose(file) == 0, path);
}

// Finds the part between the marks, and checks that the file has both.
static bool find_part(const char *path, const char *text, const char *begin, const char *end,
		      size_t *ret_start, size_t *ret_end)
{
	const char *start = strstr(text, begin);
	const char *stop = start ? strstr(start, end) : NULL;

	if (!CHECK_CASE(start && stop, arena_printf(&arena, "%s has its marks", path)))
		return false;
	*ret_start = (size_t)(start - text) + strlen(begin);
	*ret_end = (size_t)(stop - text);
	return true;
}

// Compares the part of a file between two marks.
static bool compare_part(const char *path, const char *begin, const char *end,
			 const char *generated)
{
	const char *text = read_text(place_of(path));
	size_t from;
	size_t to;

	if (!find_part(path, text, begin, end, &from, &to))
		return false;
	if (getenv("UPDATE_GOLDEN")) {
		text = arena_printf(&arena, "%s%s%s", arena_strndup(&arena, text, from), generated,
				    text + to);
		write_text(place_of(path), text);
		find_part(path, text, begin, end, &from, &to);
	}
	CHECK_CASE_STRING(arena_strndup(&arena, text + from, to - from), generated, path);
	return true;
}

static void test_document(const struct document *document)
{
	const char *generated = document->render(&arena);

	if (!compare_part(document->path,
			  arena_printf(&arena, "%s " DOCUMENT_BEGIN "\n", document->comment),
			  arena_printf(&arena, "%s " DOCUMENT_END "\n", document->comment),
			  generated))
		return;
	for (size_t i = 0; i < option_table_count; i++)
		CHECK_CASE(strstr(generated, option_table[i].name),
			   arena_printf(&arena, "%s has %s", document->path, option_table[i].name));
}

static void test_places(void)
{
	static const char *const scopes[] = {
		[GUARD_GIT] = "git directories",
		[GUARD_TOP] = "top of the project",
		[GUARD_ANYWHERE] = "every directory",
	};
	struct text out = { .arena = &arena };

	text_add(&out, "| place | in | why | the host | decision |\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < guard_count; i++) {
		const struct guard_row *row = &guard_table[i];

		text_printf(&out, "| `%s%s` | %s | %s | %s | %s |\n", row->name,
			    row->directory ? "/" : "", scopes[row->scope], row->why,
			    guard_host_names[row->host], guard_decision_names[row->decision]);
	}
	compare_part("doc/guard.md", PLACES_BEGIN, PLACES_END, text_get(&out));
}

int main(void)
{
	for (size_t i = 0; i < document_count; i++)
		test_document(&documents[i]);
	test_places();
	arena_free(&arena);
	return check_done();
}
