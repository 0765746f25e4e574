// SPDX-License-Identifier: MIT
// Judges a setting of git by its text, and by where its path leads.
#include "guard/git/setting.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/directory.h"
#include "plan/guard/address.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { POINTER_LIMIT = 4096 };

// Returns whether the file `.git` of a worktree leads to a git directory that the guard judges.
static bool leads_to_judged(struct arena *arena, int directory, const char *real,
			    const struct git_key_place *place)
{
	const char *text = file_read_at(arena, directory, ".git", POINTER_LIMIT);
	const char *target = text ? str_after(text, "gitdir: ") : NULL;
	CLEANUP_FD int git = -1;

	if (!target)
		return false;
	target = arena_strndup(arena, target, strcspn(target, "\r\n"));
	target = file_follow(arena, path_clean(arena, path_join(arena, real, target))).real;
	git = file_open(AT_FDCWD, target, O_PATH | O_DIRECTORY);
	return git >= 0 && git_directory_is(git) && git_directory_is_judged(arena, target, place);
}

// Returns whether a path is a git directory, or the top of a worktree with one. Git also takes the
// name with ".git" behind it.
static bool is_repository(struct arena *arena, const char *path, const char *real,
			  const struct git_key_place *place)
{
	CLEANUP_FD int directory = file_open(AT_FDCWD, real, O_PATH | O_DIRECTORY);
	CLEANUP_FD int inside =
		directory < 0 ? -1 : openat(directory, ".git", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (directory < 0 || lstat(arena_printf(arena, "%s.git", path), &status) == 0)
		return false;
	if (inside < 0)
		return git_directory_is(directory);
	return fstat(inside, &status) == 0 &&
	       (S_ISDIR(status.st_mode) ||
		(S_ISREG(status.st_mode) && leads_to_judged(arena, directory, real, place)));
}

const char *git_setting_refusal(struct arena *arena, const char *name, const char *value,
				const struct git_key_place *place)
{
	const char *refusal = git_key_refusal(arena, name, value, place);
	const char *path = refusal ? NULL : git_key_path(arena, name, value, place);
	const char *real;

	// The name of a remote is also a path below the main worktree, which may not exist, and
	// which a box in a linked worktree does not have.
	if (!path || !place->worktree || !path_within(path, place->worktree))
		return refusal;
	real = file_follow(arena, path).real;
	if (!path_within(real, place->worktree))
		return "leads out of the project by a symbolic link";
	if (git_key_rule(arena, name) == KEY_WORKTREE)
		return NULL;
	if (git_key_rule(arena, name) == KEY_ADDRESS && !is_repository(arena, path, real, place))
		return "leads to no git directory of the project";
	return git_path_refusal(arena, real, place);
}
