// SPDX-License-Identifier: MIT
// Runs the pure parts of the guard on files, for test_guard_git.py:
//   guard-pure index FILE HASH_SIZE    prints "MODE PATH" and a NUL for each entry, or the result
//   guard-pure edit FILE BEFORE AFTER  prints FILE with the changes between the other two
#include "base/arena.h"
#include "base/text.h"
#include "plan/guard/config_edit.h"
#include "plan/guard/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 65536 };

static struct arena arena;

static struct text read_file(const char *path)
{
	struct text text = { .arena = &arena };
	static char piece[PIECE];
	FILE *file = fopen(path, "re");
	size_t count;

	if (!file)
		exit(2);
	while ((count = fread(piece, 1, sizeof(piece), file)) > 0)
		text_add_bytes(&text, piece, count);
	fclose(file);
	return text;
}

// Prints an entry. *context is the size of an id.
static bool print_entry(void *context, const struct git_index_entry *entry)
{
	if (strlen(entry->path) != entry->length)
		exit(3);
	printf("%06o ", entry->mode);
	for (size_t i = 0; i < *(const size_t *)context; i++)
		printf("%02x", entry->id[i]);
	printf(" %s%c", entry->path, '\0');
	return true;
}

static int run_index(const char *path, const char *hash_size)
{
	static const char *const results[] = { "", "damaged", "split" };
	struct text text = read_file(path);
	size_t size = strtoul(hash_size, NULL, 10);
	enum git_index_result result = git_index_walk((const unsigned char *)text_get(&text),
						      text.length, size, &arena, print_entry,
						      &size);

	fputs(results[result], stdout);
	return 0;
}

static int run_edit(const char *path, const char *before, const char *after)
{
	struct text text = read_file(path);
	struct text texts[] = { read_file(before), read_file(after) };
	git_config_changes changes = { 0 };
	const char *result;

	if (!git_config_compare(&arena, text_get(&texts[0]), text_get(&texts[1]), &changes))
		return 1;
	result = git_config_edit(&arena, text_get(&text), &changes);
	if (!result)
		return 1;
	fputs(result, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 2;

	if (argc == 4 && str_equal(argv[1], "index"))
		status = run_index(argv[2], argv[3]);
	if (argc == 5 && str_equal(argv[1], "edit"))
		status = run_edit(argv[2], argv[3], argv[4]);
	arena_free(&arena);
	return status;
}
