// SPDX-License-Identifier: MIT
// Finds the repository of the project without running git, and verifies that it belongs to it.
//
// Theory of operation: a `.git` file contains the path of the git directory, and a box can write
// that file. Without a check, "gitdir: ~/other/.git" would mount another project's repository at
// the next start. So the git directory must point back: that of a worktree contains the path of the
// `.git` file, and that of a submodule contains the path of the directory, as core.worktree.
#include "probe/git/repository.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "plan/facts.h"
#include "plan/git/parse.h"
#include "sys/files.h"

#include <string.h>
#include <sys/stat.h>

enum { POINTER_LIMIT = 4096, CONFIG_LIMIT = 1024 * 1024 };

static bool is_directory(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

// Returns the first line of a small file, without the newline, or NULL when it cannot be read.
static const char *read_line(struct arena *arena, const char *path)
{
	const char *text = file_read(arena, path, POINTER_LIMIT, 0);

	return text ? arena_strndup(arena, text, strcspn(text, "\r\n")) : NULL;
}

// Returns the real path of `path`, relative to `directory`, or NULL when it does not exist.
static const char *resolve_path(struct arena *arena, const char *directory, const char *path)
{
	struct followed followed = file_follow(arena, path_join(arena, directory, path));

	return followed.kind == FILE_MISSING ? NULL : followed.real;
}

static void store_worktree(void *context, const char *key, const char *value)
{
	if (str_equal(key, "core.worktree"))
		*(const char **)context = value;
}

static const char *read_core_worktree(struct arena *arena, const char *directory)
{
	const char *text = file_read(arena, path_join(arena, directory, "config"), CONFIG_LIMIT, 0);
	const char *worktree = NULL;
	size_t line;

	if (!text || !git_config_parse(arena, text, store_worktree, &worktree, &line))
		return NULL;
	return worktree;
}

// Returns whether a git directory contains the path of the worktree `top`.
static bool points_back(struct arena *arena, const char *directory, const char *common,
			const char *top)
{
	const char *back;

	if (!str_equal(directory, common)) {
		const char *worktrees = path_join(arena, common, "worktrees");

		if (!str_equal(path_parent(arena, directory), worktrees))
			return false;
		back = read_line(arena, path_join(arena, directory, "gitdir"));
		back = back ? resolve_path(arena, directory, back) : NULL;
		return str_equal(back, path_join(arena, top, ".git"));
	}
	back = read_core_worktree(arena, directory);
	return back && str_equal(resolve_path(arena, directory, back), top);
}

// Finds the git directory of a `.git` file. Returns false, with the reason in git->refused, when it
// must not be used.
static bool follow_git_file(struct git_facts *git, struct arena *arena, const char *top,
			    const char *project)
{
	const char *line = read_line(arena, path_join(arena, top, ".git"));
	const char *target = line ? str_after(line, "gitdir: ") : NULL;
	const char *target_directory = target ? resolve_path(arena, top, target) : NULL;
	const char *shared;
	const char *common;

	if (!target_directory || !exists(path_join(arena, target_directory, "HEAD"))) {
		git->refused =
			"'.git' is a file that points to no repository: git is not available";
		return false;
	}
	shared = read_line(arena, path_join(arena, target_directory, "commondir"));
	common = shared ? resolve_path(arena, target_directory, shared) : target_directory;
	if (!common || !is_directory(path_join(arena, common, "objects"))) {
		git->refused = "'.git' points to a damaged repository: git is not available";
		return false;
	}
	// A git directory inside the project is mounted with it anyway, so it is not checked.
	if (!(path_within(target_directory, project) && path_within(common, project)) &&
	    !points_back(arena, target_directory, common, top)) {
		git->refused =
			arena_printf(arena,
				     "'.git' points to '%s', which does not point back: it is not "
				     "mounted and git is not available",
				     quote_word(arena, target_directory, 120));
		return false;
	}
	git->directory = target_directory;
	git->common = common;
	return true;
}

// Examines the `.git` of one directory. Returns false when the directory is not a worktree and the
// search goes on above it.
static bool find_at(struct git_facts *git, struct arena *arena, const char *top,
		    const char *project)
{
	const char *dot_git = path_join(arena, top, ".git");
	struct stat status;

	if (lstat(dot_git, &status) < 0)
		return false;
	if (S_ISDIR(status.st_mode)) {
		if (!exists(path_join(arena, dot_git, "HEAD")) ||
		    !is_directory(path_join(arena, dot_git, "objects")))
			return false;
		git->directory = git->common = dot_git;
	} else if (!S_ISREG(status.st_mode)) {
		git->refused = "'.git' is neither a directory nor a file: git is not available";
		return true;
	} else if (!follow_git_file(git, arena, top, project)) {
		return true;
	}
	git->top = top;
	git->top_id = file_follow(arena, top).id;
	git->directory_id = file_follow(arena, git->directory).id;
	git->common_id = file_follow(arena, git->common).id;
	return true;
}

void probe_repository(struct git_facts *git, struct arena *arena, const char *project)
{
	const char *top = project;

	while (!find_at(git, arena, top, project) && !str_equal(top, "/"))
		top = path_parent(arena, top);
}
