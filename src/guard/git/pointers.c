// SPDX-License-Identifier: MIT
// Judges the files of a git directory that lead git to another directory.
#include "guard/git/pointers.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/directory.h"
#include "guard/move_out.h"
#include "guard/watcher.h"
#include "sys/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

const char *git_pointer_read(struct arena *arena, int fd, const char *directory, const char *name,
			     const char *prefix)
{
	const char *text = file_read_at(arena, fd, name, GIT_POINTER_LIMIT);
	const char *target = text ? str_after(text, prefix) : NULL;

	if (!target)
		return NULL;
	target = arena_strndup(arena, target, strcspn(target, "\r\n"));
	return path_clean(arena, path_join(arena, directory, target));
}

// Judges a file that redirects git to another directory.
static void judge_redirect(struct watcher *watcher, int fd, const char *directory, const char *name)
{
	struct arena arena = { 0 };
	const char *target;
	struct stat status;
	bool worktree = str_equal(path_name(path_parent(&arena, directory)), "worktrees");

	if (!git_part_is_left_alone(watcher, &arena, directory, name) &&
	    fstatat(fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    watcher_is_new(watcher, directory, &status)) {
		watcher_watch_file(watcher, fd, name, path_join(&arena, directory, name));
		if (S_ISREG(status.st_mode) && !status.st_size && !watcher->box_ended)
			goto end; // it is being written; git refuses an empty file
		target = S_ISREG(status.st_mode) ? git_pointer_read(&arena, fd, directory, name, "")
						 : NULL;
		// The common directory of a linked worktree is two levels above.
		if (!target ||
		    !(worktree &&
		      str_equal(target, path_clean(&arena, path_join(&arena, directory, "../..")))))
			move_out(watcher, fd, path_join(&arena, directory, name), name,
				 git_part_reason(name), false);
	}
end:
	arena_free(&arena);
}

// Returns whether the `.git` of a worktree names this git directory. A box cannot write one outside
// of the project.
static bool names_back(struct arena *arena, const char *pointer, const char *directory)
{
	const char *text = file_read(arena, pointer, GIT_POINTER_LIMIT, 0);
	const char *target = text ? str_after(text, "gitdir: ") : NULL;

	return target &&
	       str_equal(path_clean(arena, path_join(arena, path_parent(arena, pointer),
						     arena_strndup(arena, target,
								   strcspn(target, "\r\n")))),
			 directory);
}

// Judges the file that names the worktree of a git directory, after the box has ended: git removes
// what it names, and writes it before the worktree.
static void judge_worktree(struct watcher *watcher, int fd, const char *directory)
{
	struct arena arena = { 0 };
	const char *target;
	struct stat status;

	if (watcher->box_ended &&
	    str_equal(path_name(path_parent(&arena, directory)), "worktrees") &&
	    !git_part_is_left_alone(watcher, &arena, directory, "gitdir") &&
	    fstatat(fd, "gitdir", &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    watcher_is_new(watcher, directory, &status)) {
		target = S_ISREG(status.st_mode)
				 ? git_pointer_read(&arena, fd, directory, "gitdir", "")
				 : NULL;
		if (!target || (!git_is_own(watcher, file_follow(&arena, target).real) &&
				!names_back(&arena, target, directory)))
			move_out(watcher, fd, path_join(&arena, directory, "gitdir"), "gitdir",
				 git_part_reason("gitdir"), false);
	}
	arena_free(&arena);
}

void git_pointers_judge(struct watcher *watcher, int fd, const char *directory)
{
	judge_redirect(watcher, fd, directory, "commondir");
	judge_worktree(watcher, fd, directory);
}
