// SPDX-License-Identifier: MIT
// Directories of the box that are empty because the guard has moved their files.
//
// Theory of operation: a box creates `.claude/commands/x.md`, and the guard moves the file. The two
// directories would stay, and the user would not know why. So they are removed when the box has
// ended, with rmdir(2), which removes no file. The time of birth shows that the session has created
// a directory: the box cannot set it, and a renamed directory keeps it. On a file system without
// this time, all directories stay.
#include "guard/emptied.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/permissions.h"
#include "guard/rows.h"
#include "guard/watcher.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_EMPTIED = 4096 };

void emptied_note(struct watcher *watcher, const char *path)
{
	struct emptied *emptied = watcher->emptied;
	struct arena arena = { 0 };
	const char *directory = path_parent(&arena, path);

	while (emptied && !str_equal(emptied->path, directory))
		emptied = emptied->next;
	if (!emptied && watcher->emptied_count < MAX_EMPTIED) {
		emptied = calloc(1, sizeof(*emptied));
		if (emptied)
			emptied->path = strdup(directory);
		if (emptied && emptied->path) {
			emptied->next = watcher->emptied;
			watcher->emptied = emptied;
			watcher->emptied_count++;
		} else {
			free(emptied);
		}
	}
	arena_free(&arena);
}

// Returns whether an entry is a directory that was created since the session started.
static bool is_created(const struct watcher *watcher, int parent, const char *name)
{
	struct statx status;
	struct timespec birth;

	if (statx(parent, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_BTIME,
		  &status) < 0 ||
	    !(status.stx_mask & STATX_BTIME) || !S_ISDIR(status.stx_mode))
		return false;
	birth = (struct timespec){ .tv_sec = status.stx_btime.tv_sec,
				   .tv_nsec = status.stx_btime.tv_nsec };
	return clock_is_later(&birth, &watcher->start);
}

// Removes a directory if it is new and empty. Returns whether it is gone.
static bool remove_new(struct watcher *watcher, struct arena *arena, const char *path)
{
	CLEANUP_FD int parent = file_open(AT_FDCWD, path_parent(arena, path), O_PATH | O_DIRECTORY);

	if (parent < 0 || !is_created(watcher, parent, path_name(path)))
		return errno == ENOENT;
	permissions_lend(watcher, parent, S_IWUSR | S_IXUSR);
	return unlinkat(parent, path_name(path), AT_REMOVEDIR) == 0;
}

void emptied_remove(struct watcher *watcher)
{
	const char *project = watcher->plan->project;
	struct arena arena = { 0 };

	for (const struct emptied *emptied = watcher->emptied; emptied; emptied = emptied->next)
		for (const char *path = emptied->path;
		     path_within(path, project) && !str_equal(path, project) &&
		     !path_lies_in_git(path);
		     path = path_parent(&arena, path))
			if (!remove_new(watcher, &arena, path))
				break;
	permissions_return(watcher);
	arena_free(&arena);
}
