// SPDX-License-Identifier: MIT
// Finds files that a session hides by ignore rules of its own.
//
// Theory of operation: the ignore files of the start are written to a directory without any other
// file, and `git check-ignore` runs there on the paths that git ignores now. Paths that it does not
// name are hidden by rules that the session made. git lists a directory that it ignores as one
// path, so dependencies that were ignored at the start are not listed.
#include "snapshot/take/hidden.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "snapshot/store.h"
#include "snapshot/take/path_set.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/remove_tree.h"
#include "sys/write.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define IGNORE_FILE ".gitignore"
#define RULES       "rules"  // in the directory of the session
#define CUSTOM      "custom" // patterns, there

enum { MOST_FILES = 2000, MOST_DIRECTORIES = 100, PATTERNS_LIMIT = 1024 * 1024 };

// Programs make these directories and hide them themselves, or people do so later: they are many
// files of no interest. The last name is that of no file: git fails if it ignores none.
#define ALWAYS_IGNORED ".claudebox-always-ignored"
static const char custom[] = "node_modules/\n"
			     "__pycache__/\n"
			     ".venv/\n"
			     "venv/\n"
			     ".tox/\n"
			     ".nox/\n"
			     ".pytest_cache/\n"
			     ".mypy_cache/\n"
			     ".ruff_cache/\n"
			     ".hypothesis/\n"
			     ".gradle/\n"
			     "target/\n" ALWAYS_IGNORED "\n";

struct search {
	const struct store *store;
	struct arena *arena;
	const char *session;
	const char *rules; // the directory with the ignore files of the start
	int64_t since_ms;
};

// Splits a list with a NUL after each path.
static strings split(struct arena *arena, const struct git_run *run)
{
	const char *end = run->output + run->output_length;
	strings paths = { 0 };

	for (const char *path = run->output; path < end; path += strlen(path) + 1)
		if (*path)
			vec_push(arena, &paths, path);
	return paths;
}

static struct text join(struct arena *arena, const strings *paths)
{
	struct text text = { .arena = arena };

	vec_each(path, paths)
		text_add_bytes(&text, *path, strlen(*path) + 1);
	return text;
}

// Writes the ignore files of the snapshot of the start.
static bool write_saved_rules(const struct search *search)
{
	static const char *const list[] = { "ls-files", "-z", "--stage", NULL };
	static const char *const write[] = { "checkout-index", "-f", "-z", "--stdin", NULL };
	const char *index = path_join(search->arena, search->session, "before");
	struct git_run listing = { .arguments = list, .index = index };
	struct git_run writing = { .arguments = write, .index = index, .worktree = search->rules };
	strings paths, rules = { 0 };
	struct text input;

	if (!git_run(search->store, search->arena, &listing))
		return false;
	paths = split(search->arena, &listing);
	vec_each(line, &paths) { // "100644 OBJECT 0\tPATH"; git does not follow a link
		const char *tab = strchr(*line, '\t');

		if (tab && str_starts(*line, "100") && str_equal(path_name(tab + 1), IGNORE_FILE))
			vec_push(search->arena, &rules, tab + 1);
	}
	input = join(search->arena, &rules);
	writing.input = text_get(&input);
	writing.input_length = input.length;
	return !rules.count || git_run(search->store, search->arena, &writing);
}

static int64_t milliseconds(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000 + time->tv_nsec / 1000000;
}

// Writes an ignore file that ignores itself, so that the start could not save it, if the session
// has not changed it.
static void write_old_rules(const struct search *search, const char *path)
{
	struct arena *arena = search->arena;
	const char *full = path_join(arena, search->store->project, path);
	const char *parent = search->rules;
	struct error ignored = { .arena = arena };
	CLEANUP_FD int directory = -1;
	const char *text;
	struct stat status;

	if (!str_equal(path_name(path), IGNORE_FILE) || lstat(full, &status) < 0 ||
	    !S_ISREG(status.st_mode) || milliseconds(&status.st_ctim) >= search->since_ms)
		return;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		parent = arena_printf(arena, "%s/%.*s", search->rules, (int)(slash - path), path);
		mkdir(parent, 0700);
	}
	text = file_read(arena, full, PATTERNS_LIMIT, 0);
	directory = file_open(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY);
	if (text && directory >= 0)
		replace_file(directory, IGNORE_FILE, text, &ignored);
}

// Returns the paths that the rules of the start do not ignore.
static strings keep_hidden(const struct search *search, const strings *paths)
{
	const char *arguments[] = { "--no-literal-pathspecs",
				    "-c",
				    NULL,
				    "check-ignore",
				    "-z",
				    "--no-index",
				    "--stdin",
				    NULL };
	struct git_run run = { .arguments = arguments,
			       .index = "/nonexistent/index",
			       .worktree = search->rules };
	struct path_set known = { 0 };
	strings hidden = { 0 }, old;
	struct text input = { .arena = search->arena };

	arguments[2] = arena_printf(search->arena, "core.excludesFile=%s/" CUSTOM, search->session);
	vec_each(path, paths) { // a colon at the start would have a meaning
		text_add(&input, "./");
		text_add_bytes(&input, *path, strlen(*path) + 1);
	}
	text_add_bytes(&input, ALWAYS_IGNORED, sizeof(ALWAYS_IGNORED));
	run.input = text_get(&input);
	run.input_length = input.length;
	if (!paths->count || !git_run(search->store, search->arena, &run))
		return hidden;
	old = split(search->arena, &run);
	vec_each(path, &old) {
		const char *below = str_after(*path, "./");

		if (below && !path_set_has(&known, below))
			path_set_add(&known, search->arena, below);
	}
	vec_each(path, paths) {
		if (!path_set_has(&known, *path))
			vec_push(search->arena, &hidden, *path);
	}
	return hidden;
}

// Lists the files in a directory that git ignores as a whole now.
static strings list_directory_files(const struct search *search, const char *directory)
{
	static const char *const arguments[] = { "ls-files", "-z", "--others", NULL };
	struct git_run run = { .arguments = arguments,
			       .index = "/nonexistent/index",
			       .worktree = path_join(search->arena, search->store->project,
						     directory) };
	strings names = { 0 }, paths = { 0 };

	if (git_run(search->store, search->arena, &run))
		names = split(search->arena, &run);
	vec_each(name, &names)
		vec_push(search->arena, &paths,
			 arena_printf(search->arena, "%s%s", directory, *name));
	return keep_hidden(search, &paths);
}

// Adds the files of a list, and those in its directories.
static void add_files(const struct search *search, const strings *paths, strings *files,
		      strings *ret_left_out)
{
	size_t directories = 0;

	vec_each(path, paths) {
		strings below = { 0 };

		if (!str_ends(*path, "/"))
			vec_push(search->arena, &below, *path);
		else if (directories++ < MOST_DIRECTORIES)
			below = list_directory_files(search, *path);
		if (directories > MOST_DIRECTORIES || files->count + below.count > MOST_FILES) {
			vec_push(search->arena, ret_left_out, *path);
			continue;
		}
		vec_each(file, &below)
			vec_push(search->arena, files, *file);
	}
}

strings hidden_list(const struct store *store, struct arena *arena, const char *session,
		    int64_t since_ms, strings *ret_left_out)
{
	static const char *const arguments[] = { "ls-files",  "-z",          "--others",
						 "--ignored", "--directory", "--exclude-standard",
						 NULL };
	struct search search = { .store = store,
				 .arena = arena,
				 .session = session,
				 .rules = path_join(arena, session, RULES),
				 .since_ms = since_ms };
	CLEANUP_FD int directory = file_open(AT_FDCWD, session, O_RDONLY | O_DIRECTORY);
	struct git_run run = { .arguments = arguments };
	struct error ignored = { .arena = arena };
	strings files = { 0 }, paths;

	*ret_left_out = (strings){ 0 };
	if (directory < 0 || !git_run(store, arena, &run))
		return files;
	paths = split(arena, &run);
	if (!paths.count || !remove_tree(directory, RULES, &ignored) ||
	    mkdirat(directory, RULES, 0700) < 0 ||
	    !replace_file(directory, CUSTOM, custom, &ignored) || !write_saved_rules(&search))
		return files;
	vec_each(path, &paths)
		write_old_rules(&search, *path);
	paths = keep_hidden(&search, &paths);
	add_files(&search, &paths, &files, ret_left_out);
	remove_tree(directory, RULES, &ignored);
	return files;
}
