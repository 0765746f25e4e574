// SPDX-License-Identifier: MIT
// Files that settings of git name: words of command lines, and how paths are compared with them.
#include "base/arena.h"
#include "base/text.h"
#include "check.h"
#include "plan/guard/facts.h"
#include "plan/guard/targets.h"

#include <string.h>

static struct arena arena;

// Returns the paths in a value, separated by '|'; NULL: the setting names no file.
static const char *paths_of(const char *name, const char *value)
{
	const struct guard_target_row *row = guard_target_row(&arena, name);
	struct text out = { .arena = &arena };
	strings words;

	if (!row)
		return NULL;
	words = guard_target_words(&arena, row, value);
	vec_each(word, &words)
		text_printf(&out, "%s%s", out.length ? "|" : "", *word);
	return text_get(&out);
}

static void test_table(void)
{
	for (size_t i = 0; i < guard_target_count; i++) {
		const struct guard_target_row *row = &guard_target_table[i];

		CHECK_CASE(*row->keys && *row->place.why && row->place.directory &&
				   row->place.decision == GUARD_PROTECTED,
			   arena_printf(&arena, "the row of %s is complete", row->section));
	}
}

static void test_settings(void)
{
	static const struct {
		const char *name, *value, *paths;
	} rows[] = {
		{ "include.path", "../.gitconfig", "../.gitconfig" },
		{ "includeif.onbranch:a.b.path", "x", "x" },
		{ "core.hookspath", "my hooks", "my hooks" },
		{ "core.fsmonitor", "true", "" },
		{ "core.fsmonitor", "./fsm.sh", "./fsm.sh" },
		{ "core.fsmonitor", "", "" },
		{ "filter.x.clean", "git-lfs clean -- %f", "" },
		{ "filter.a.b.smudge", "sh tools/x %f", "tools/x" },
		{ "core.fsmonitor", "sh x.sh", "x.sh" },
		{ "diff.x.textconv", "python3 /a/c --rules=./r", "/a/c|./r" },
		{ "diff.x.command", "'/a b/c'", "/a b/c|/a|b/c" },
		{ "gpg.program", "./a b/c", "./a|b/c|./a b/c" },
		{ "diff.external", "sh -c \"./x 'y/z'\"", NULL },
		{ "merge.x.driver", "a/b;c/d|e/f&&g/h", "a/b|c/d|e/f|g/h" },
		{ "gpg.ssh.program", "~/bin/x", "~/bin/x" },
		{ "credential.https://example.com.helper", "!tools/login", "tools/login" },
		{ "core.editor", "$PWD/edit", "edit" },
		{ "core.editor", "\"$(git rev-parse --show-toplevel)/a/edit\"", NULL },
		{ "core.editor", "$HOME/bin/edit", "$HOME/bin/edit" },
		{ "core.pager", "less -R -- src/ /", "" },
		{ "alias.x", "log origin/main", "" },
		{ "alias.x", "!f() { ./a \"$@\"; }; f", "./a" },
		{ "alias.x.command", "!./a", "./a" },
		{ "core.filemode", "./x", "-" },
		{ "user.name", "./x", "-" },
		{ "filter.required", "./x", "-" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *paths = paths_of(rows[i].name, rows[i].value);

		if (rows[i].paths)
			CHECK_CASE(str_equal(paths ? paths : "-", rows[i].paths),
				   arena_printf(&arena, "%s=%s names '%s'", rows[i].name,
						rows[i].value, paths ? paths : "-"));
	}
	CHECK_CASE(strstr(paths_of("diff.external", "sh -c \"./x 'y/z'\""), "y/z"),
		   "a line in quotes is split");
	CHECK_CASE(strstr(paths_of("core.editor", "\"$(git rev-parse --show-toplevel)/a/edit\""),
			  "a/edit"),
		   "a path behind a command substitution is relative");
}

static bool is_top(const char *directory)
{
	return str_equal(directory, "/p") || str_equal(directory, "/p/n");
}

static void test_paths(void)
{
	static const struct guard_row row = { .name = "" };
	struct guard_target items[] = {
		{ .path = "/p/tools/hooks", .name = "tools/hooks", .directory = true, .row = &row },
		{ .path = "/p/a/run", .row = &row },
	};
	guard_targets targets = { .items = items, .count = 2, .capacity = 2 };
	static const struct {
		const char *path;
		bool exact, below;
	} rows[] = {
		{ "/p/tools/hooks", true, false },
		{ "/p/tools/hooks/x/y", true, false },
		{ "/p/tools", false, true },
		{ "/p/tools/hooksx", false, false },
		{ "/p/n/tools/hooks/x", true, false },
		{ "/p/n/tools", false, true },
		{ "/p/m/tools/hooks/x", false, false },
		{ "/p/m/tools", false, false },
		{ "/p/a/run", true, false },
		{ "/p/a/run/x", false, false },
		{ "/p/a", false, true },
		{ "/p/n/a/run", false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *path = rows[i].path;
		const char *name = strrchr(path, '/');
		const char *directory = arena_strndup(&arena, path, (size_t)(name - path));

		CHECK_CASE(!!guard_target_find(&targets, path, is_top) == rows[i].exact,
			   arena_printf(&arena, "%s is a target: %d", path, rows[i].exact));
		CHECK_CASE(!!guard_target_find_below(&targets, path, is_top) == rows[i].below,
			   arena_printf(&arena, "%s leads to a target: %d", path, rows[i].below));
		CHECK_CASE(guard_target_may_be(&targets, directory, name + 1) ||
				   !(rows[i].exact || rows[i].below),
			   arena_printf(&arena, "the name of %s is not left out", path));
	}
}

static void test_data_of_git(void)
{
	static const char *const data[] = { "HEAD",       "index",        "index.lock",
					    "objects/aa", "refs/heads/x", "COMMIT_EDITMSG",
					    "x.lock" };

	for (size_t i = 0; i < ARRAY_SIZE(data); i++)
		CHECK_CASE(guard_is_git_data(data[i]), data[i]);
	CHECK_CASE(!guard_is_git_data("tools/x") && !guard_is_git_data("indexer"), "other files");
}

int main(void)
{
	test_table();
	test_settings();
	test_paths();
	test_data_of_git();
	arena_free(&arena);
	return check_done();
}
