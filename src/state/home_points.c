// SPDX-License-Identifier: MIT
// Removes mount points from the kept home after the session.
//
// Theory of operation: a file of the host that is mounted in the kept home, such as a file with
// certificates, needs a file there as its mount point. In a later box without the mount, it would
// be an empty file that programs take for the real one. A box that still runs would lose its
// mount with the file, so the last box of a home removes it: that one gets the lock for itself.
// Boxes that start meanwhile wait for the lock before they make their mount points. The files of
// toolchains stay, because each box mounts them again.
#include "state/home_points.h"

#include "base/arena.h"
#include "base/path.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file_point(const struct plan_mount *mount)
{
	return mount->created && mount->staged && !mount->toolchain && mount->id.type &&
	       !S_ISDIR(mount->id.type);
}

static bool has_file_point(const struct plan *plan)
{
	vec_each(mount, &plan->mounts) {
		if (is_file_point(mount))
			return true;
	}
	return false;
}

static void remove_point(int home, struct arena *arena, const char *path)
{
	const char *parent = strchr(path, '/') ? path_parent(arena, path) : ".";
	CLEANUP_FD int directory = file_open(home, parent, O_PATH | O_DIRECTORY);
	struct stat status;

	if (directory >= 0 &&
	    fstatat(directory, path_name(path), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(status.st_mode) && status.st_size == 0)
		unlinkat(directory, path_name(path), 0);
}

void home_remove_points(const struct plan *plan, struct arena *arena, int lock)
{
	CLEANUP_FD int home = -1;

	if (!plan->state.home || !has_file_point(plan) || flock(lock, LOCK_EX | LOCK_NB) < 0)
		return;
	home = file_open(AT_FDCWD, plan->state.home, O_RDONLY | O_DIRECTORY);
	vec_each(mount, &plan->mounts) {
		if (home >= 0 && is_file_point(mount))
			remove_point(home, arena, mount->path + strlen(plan->home) + 1);
	}
}
