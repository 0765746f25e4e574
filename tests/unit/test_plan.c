// SPDX-License-Identifier: MIT
// Compares what the cases show with tests/golden; UPDATE_GOLDEN=1 writes the files anew.
#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "check.h"
#include "golden.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct arena arena;
static strings known;

static const char *golden_directory(void)
{
	const char *source = getenv("SOURCE");

	return path_join(&arena, source ? source : ".", "tests/golden");
}

static const char *read_text(const char *path)
{
	struct text out = { .arena = &arena };
	FILE *file = fopen(path, "re");
	char buffer[4096];
	size_t got;

	if (!file)
		return NULL;
	while ((got = fread(buffer, 1, sizeof(buffer), file)) > 0)
		text_add_bytes(&out, buffer, got);
	fclose(file);
	return text_get(&out);
}

static bool write_text(const char *path, const char *content)
{
	FILE *file = fopen(path, "we");
	bool written;

	if (!file)
		return false;
	written = fputs(content, file) >= 0;
	return fclose(file) == 0 && written;
}

// The first line that differs says more than two long texts.
static void show_difference(const char *got, const char *wanted)
{
	int line = 1;

	while (*got && *got == *wanted) {
		line += *got == '\n';
		got++;
		wanted++;
	}
	check_note("first difference in line", arena_printf(&arena, "%d", line));
	check_note("got", arena_strndup(&arena, got, strcspn(got, "\n")));
	check_note("wanted", arena_strndup(&arena, wanted, strcspn(wanted, "\n")));
	check_note("if that is right", "UPDATE_GOLDEN=1 SOURCE=. BUILD/tests/test_plan");
}

static void run_cases(const struct golden_case *cases, size_t count)
{
	const char *update = getenv("UPDATE_GOLDEN");

	for (size_t i = 0; i < count; i++) {
		struct text out = { .arena = &arena };
		const char *path =
			arena_printf(&arena, "%s/%s.txt", golden_directory(), cases[i].id);
		const char *wanted;

		cases[i].show(&out);
		vec_push(&arena, &known, arena_printf(&arena, "%s.txt", cases[i].id));
		CHECK_CASE(out.length > 0, arena_printf(&arena, "%s shows something", cases[i].id));
		if (update && *update)
			CHECK_CASE(write_text(path, text_get(&out)), path_name(path));
		wanted = read_text(path);
		if (!CHECK_CASE(wanted && str_equal(text_get(&out), wanted), cases[i].id))
			show_difference(text_get(&out), wanted ? wanted : "");
	}
}

static bool is_known(const char *name)
{
	vec_each(file, &known) {
		if (str_equal(*file, name))
			return true;
	}
	return false;
}

static void check_orphans(void)
{
	DIR *directory = opendir(golden_directory());
	struct dirent *entry;

	CHECK(directory != NULL);
	while (directory && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && !is_known(entry->d_name))
			CHECK_CASE(false,
				   arena_printf(&arena, "golden/%s has no case", entry->d_name));
	if (directory)
		closedir(directory);
}

int main(void)
{
	run_cases(sandbox_cases, sandbox_case_count);
	run_cases(network_cases, network_case_count);
	run_cases(screen_cases, screen_case_count);
	run_cases(claude_cases, claude_case_count);
	check_orphans();
	arena_free(&arena);
	return check_done();
}
