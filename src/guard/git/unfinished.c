// SPDX-License-Identifier: MIT
// Judges git operations that a box has not finished.
#include "guard/git/unfinished.h"

#include "base/arena.h"
#include "base/path.h"
#include "guard/git/config_file.h"
#include "guard/git/directory.h"
#include "guard/move_out.h"
#include "guard/watcher.h"
#include "plan/guard/unfinished.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { TEXT_LIMIT = 1024 * 1024 };

enum unfinished_kind { KIND_TODO, KIND_STRATEGY, KIND_OPTIONS, KIND_APPLY };

// Files that git reads when the user continues the operation.
static const struct unfinished_row {
	const char *directory;
	const char *name;
	enum unfinished_kind kind;
	const char *why;
} rows[] = {
	{ "rebase-merge", "git-rebase-todo", KIND_TODO, "git runs its commands when you continue" },
	{ "rebase-merge", "strategy", KIND_STRATEGY, "git runs the program that it names" },
	{ "rebase-apply", "apply-opt", KIND_APPLY, "git apply can write outside of the project" },
	{ "sequencer", "todo", KIND_TODO, "git runs its commands when you continue" },
	{ "sequencer", "opts", KIND_OPTIONS, "git runs the program that it names" },
};

static bool is_harmless(struct arena *arena, const struct unfinished_row *row, const char *text)
{
	if (row->kind == KIND_STRATEGY)
		return unfinished_strategy_is_harmless(text);
	if (row->kind == KIND_OPTIONS)
		return unfinished_options_are_harmless(arena, text);
	if (row->kind == KIND_APPLY)
		return unfinished_apply_is_harmless(arena, text);
	return !unfinished_without_commands(arena, text);
}

// Moves a file that executes something. A list of git rebase stays without its commands.
static void judge_file(struct watcher *watcher, struct arena *arena, int directory,
		       const char *path, const struct unfinished_row *row)
{
	const char *text;
	struct stat status;

	if (fstatat(directory, row->name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !watcher_is_new(watcher, path, &status))
		return;
	text = S_ISREG(status.st_mode) ? file_read_at(arena, directory, row->name, TEXT_LIMIT)
				       : NULL;
	if (text && is_harmless(arena, row, text))
		return;
	if (move_out(watcher, directory, path, row->name, row->why, false) && text &&
	    row->kind == KIND_TODO)
		file_renew(directory, row->name, unfinished_without_commands(arena, text),
			   status.st_mode, false);
}

void unfinished_judge(struct watcher *watcher, int fd, const char *directory)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct unfinished_row *row = &rows[i];
		struct arena arena = { 0 };
		const char *above = path_join(&arena, directory, row->directory);
		const char *path = path_join(&arena, above, row->name);
		CLEANUP_FD int open =
			openat(fd, row->directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		struct stat status;

		if (open >= 0)
			judge_file(watcher, &arena, open, path, row);
		else if (fstatat(fd, row->directory, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
			 watcher_is_new(watcher, above, &status)) // a link: git follows it
			move_out(watcher, fd, above, row->directory, row->why, false);
		arena_free(&arena);
	}
}
