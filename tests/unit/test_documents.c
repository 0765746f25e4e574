// SPDX-License-Identifier: MIT
// The generated parts of the manual and the completions match the option table; UPDATE_GOLDEN=1
// writes them.
#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "check.h"
#include "config/documents.h"
#include "config/options.h"

#include <stdlib.h>
#include <string.h>

static struct arena arena;

static const char *place_of(const struct document *document)
{
	const char *source = getenv("SOURCE");

	return path_join(&arena, source ? source : ".", document->path);
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
static bool find_part(const struct document *document, const char *text, size_t *ret_start,
		      size_t *ret_end)
{
	const char *begin = arena_printf(&arena, "%s " DOCUMENT_BEGIN "\n", document->comment);
	const char *start = strstr(text, begin);
	const char *end = start ? strstr(start, arena_printf(&arena, "%s " DOCUMENT_END "\n",
							     document->comment))
				: NULL;

	if (!CHECK_CASE(start && end, arena_printf(&arena, "%s has its marks", document->path)))
		return false;
	*ret_start = (size_t)(start - text) + strlen(begin);
	*ret_end = (size_t)(end - text);
	return true;
}

static void test_document(const struct document *document)
{
	const char *generated = document->render(&arena);
	const char *text = read_text(place_of(document));
	size_t start;
	size_t end;

	if (!find_part(document, text, &start, &end))
		return;
	if (getenv("UPDATE_GOLDEN")) {
		text = arena_printf(&arena, "%s%s%s", arena_strndup(&arena, text, start), generated,
				    text + end);
		write_text(place_of(document), text);
		find_part(document, text, &start, &end);
	}
	CHECK_CASE_STRING(arena_strndup(&arena, text + start, end - start), generated,
			  document->path);
	for (size_t i = 0; i < option_table_count; i++)
		CHECK_CASE(strstr(generated, option_table[i].name),
			   arena_printf(&arena, "%s has %s", document->path, option_table[i].name));
}

int main(void)
{
	for (size_t i = 0; i < document_count; i++)
		test_document(&documents[i]);
	arena_free(&arena);
	return check_done();
}
