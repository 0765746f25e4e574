// SPDX-License-Identifier: MIT
// What differs between two snapshots.
#include "snapshot/changes.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/text.h"
#include "plan/report/change.h"
#include "snapshot/store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OBJECT_LIMIT = 80 };

// Returns the next text that ends with NUL, NULL at the end.
static const char *next_text(const char **cursor, const char *end)
{
	const char *text = *cursor;

	if (text >= end)
		return NULL;
	*cursor = text + strlen(text) + 1;
	return text;
}

// Parses ":100644 100755 OLD NEW M".
static bool parse_raw(struct arena *arena, const char *line, struct file_change *ret_change)
{
	const char *words[5];
	const char *cursor = line + 1;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!(words[i] = str_next_word(arena, &cursor)))
			return false;
	*ret_change = (struct file_change){
		.before = { (uint32_t)strtoul(words[0], NULL, 8), words[2] },
		.after = { (uint32_t)strtoul(words[1], NULL, 8), words[3] },
	};
	return line[0] == ':';
}

static bool is_wanted(const strings *only, const char *path)
{
	if (!only || !only->count)
		return true;
	vec_each(wanted, only) {
		const char *rest = str_after(path, *wanted);

		if (!**wanted || (rest && (!*rest || *rest == '/')))
			return true;
	}
	return false;
}

bool changes_list(const struct store *store, const char *before, const char *after,
		  const strings *only, file_changes *ret_changes, struct error *error)
{
	const char *const arguments[] = { "diff-tree",   "-r",   "-z",  "--raw", "--no-renames",
					  "--no-abbrev", before, after, NULL };
	struct git_run run = { .arguments = arguments };
	const char *cursor, *end, *line;

	*ret_changes = (file_changes){ 0 };
	if (!git_run(store, error->arena, &run))
		return git_fail(&run, "compare the snapshots", error);
	cursor = run.output;
	end = run.output + run.output_length;
	while ((line = next_text(&cursor, end))) {
		const char *path = next_text(&cursor, end);
		struct file_change change;

		if (!path || !parse_raw(error->arena, line, &change))
			return error_set(error, "cannot compare the snapshots: git's answer is not "
						"understood");
		change.path = path;
		if (is_wanted(only, path))
			vec_push(error->arena, ret_changes, change);
	}
	return true;
}

void changes_count_lines(const struct store *store, struct arena *arena, const char *before,
			 const char *after, file_changes *changes)
{
	const char *const arguments[] = { "-c",
					  "core.bigFileThreshold=16m",
					  "diff-tree",
					  "-r",
					  "-z",
					  "--numstat",
					  "--no-renames",
					  "--no-ext-diff",
					  "--no-textconv",
					  before,
					  after,
					  NULL };
	struct git_run run = { .arguments = arguments };
	const char *cursor, *end, *line;
	size_t at = 0;

	if (!git_run(store, arena, &run))
		return;
	cursor = run.output;
	end = run.output + run.output_length;
	// "ADDED\tREMOVED\tPATH", in the order of the list; a dash: the file is not text.
	while ((line = next_text(&cursor, end))) {
		const char *removed = strchr(line, '\t');
		const char *path = removed ? strchr(removed + 1, '\t') : NULL;
		struct file_change *change;

		while (path && at < changes->count && !str_equal(changes->items[at].path, path + 1))
			at++;
		if (!path || at == changes->count)
			return;
		change = &changes->items[at];
		change->counted = true;
		change->binary = line[0] == '-';
		change->added = change->binary ? 0 : strtoul(line, NULL, 10);
		change->removed = change->binary ? 0 : strtoul(removed + 1, NULL, 10);
	}
}

const char *changes_read(const struct store *store, struct arena *arena, const char *object,
			 size_t limit, size_t *ret_length)
{
	const char *const arguments[] = { "cat-file", "blob", object, NULL };
	struct git_run run = { .arguments = arguments, .output_limit = limit };

	*ret_length = 0;
	if (strlen(object) > OBJECT_LIMIT || !git_run(store, arena, &run) ||
	    run.output_length > limit)
		return NULL;
	*ret_length = run.output_length;
	return run.output;
}

// Returns whether the start had this content: a file of it was renamed.
static bool start_had(const file_changes *changes, const char *object)
{
	vec_each(change, changes) {
		if (change->before.mode && str_equal(change->before.object, object))
			return true;
	}
	return false;
}

bool changes_ignore_less(const file_changes *changes)
{
	vec_each(change, changes) {
		if (change->before.mode && str_equal(path_name(change->path), ".gitignore"))
			return true;
	}
	return false;
}

bool changes_is_older(const struct store *store, struct arena *arena, const file_changes *changes,
		      const struct file_change *change, int64_t started_ms)
{
	const char *path = path_join(arena, store->project, change->path);
	struct statx status;

	return !change->before.mode &&
	       statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) == 0 &&
	       (status.stx_mask & STATX_BTIME) &&
	       (int64_t)status.stx_btime.tv_sec * 1000 + status.stx_btime.tv_nsec / 1000000 <
		       started_ms &&
	       !start_had(changes, change->after.object);
}
