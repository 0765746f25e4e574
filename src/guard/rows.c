// SPDX-License-Identifier: MIT
// Which row of the tables stands for a path: of places.c, or of a file that settings of git name.
#include "guard/rows.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/watcher.h"
#include "plan/guard/places.h"
#include "plan/guard/targets.h"
#include "plan/plan.h"

#include <string.h>
#include <sys/stat.h>

bool path_lies_in_git(const char *path)
{
	const char *found = strstr(path, "/.git/");

	return found || str_ends(path, "/.git");
}

bool rows_is_top(const char *directory)
{
	static const char *const names[] = { ".git", "HEAD" };
	struct arena arena = { 0 };
	struct stat status;
	bool found = false;

	for (size_t i = 0; !found && !path_lies_in_git(directory) && i < ARRAY_SIZE(names); i++)
		found = lstat(path_join(&arena, directory, names[i]), &status) == 0;
	arena_free(&arena);
	return found;
}

// Returns the path relative to the project, NULL: it is not in it, or is in a git directory.
static const char *in_project(const struct watcher *watcher, const char *path)
{
	const char *project = watcher->plan->project;

	return path_within(path, project) && !str_equal(path, project) && !path_lies_in_git(path)
		       ? path + strlen(project) + 1
		       : NULL;
}

const struct guard_row *rows_find_exact(const struct watcher *watcher, const char *path)
{
	const char *below = in_project(watcher, path);
	const struct guard_row *row = below ? guard_find(below) : NULL;

	return row ? row : guard_target_find(&watcher->plan->guard.targets, path, rows_is_top);
}

const struct guard_row *rows_find(const struct watcher *watcher, const char *path)
{
	const char *below = in_project(watcher, path);
	const struct guard_row *row = rows_find_exact(watcher, path);

	if (!row && below)
		row = guard_find_below(below);
	return row ? row
		   : guard_target_find_below(&watcher->plan->guard.targets, path, rows_is_top);
}
