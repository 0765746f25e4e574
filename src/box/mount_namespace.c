// SPDX-License-Identifier: MIT
// Finishes the box's mounts when bwrap is done: they are cut off from the host's, and those that were staged go to
// their places.
//
// Theory of operation: bwrap's mounts are slaves of the host's, so a file system that the host mounts below a shared
// directory while the box runs would appear in the box. And while bwrap mounts, the host's files are in its reach, so
// what lies where a box can write is mounted elsewhere first (plan_add_mount). The namespace belongs to the user
// namespace that bwrap made first, which is ours: once bwrap is done, and before the agent starts, a child of ours
// enters both, makes every mount private and moves the staged ones. Nothing is made then, no link is followed, and
// nothing of the host is left that one could lead to. The child shares our memory: to copy it would take longer than
// the work.
#include "box/mount_namespace.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "box/launch.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { STACK = 16 * 1024 };

struct finish {
	const struct plan *plan;
	int user;
	int mounts;
	// How it went in the child:
	bool done;
	int error;                       // errno
	const struct plan_mount *failed; // NULL: none in particular
	bool changed;                    // its place is not what it was
};

static bool is_same_kind(int fd, const char *path)
{
	struct stat at, other;

	return fstat(fd, &at) == 0 && stat(path, &other) == 0 &&
	       S_ISDIR(at.st_mode) == S_ISDIR(other.st_mode);
}

// By descriptor, as the name may lead elsewhere a moment later; and in the way that every kernel and container knows
// where bwrap works. `descriptors` is /proc/self/fd of the host: the box's own /proc does not show us.
static bool move_staged(const struct plan_mount *staged, int descriptors, bool *ret_changed)
{
	CLEANUP_FD int place = file_open(AT_FDCWD, staged->path, O_PATH);
	char name[16];

	*ret_changed = place < 0 || !file_is_same(place, &staged->place) ||
		       !is_same_kind(place, staged->staged);
	snprintf(name, sizeof(name), "%d", place);
	return !*ret_changed && fchdir(descriptors) == 0 &&
	       mount(staged->staged, name, NULL, MS_MOVE, NULL) == 0 &&
	       remove(staged->staged) == 0; // what bwrap made to mount it on
}

static bool finish_inside(struct finish *finish)
{
	CLEANUP_FD int descriptors = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (descriptors < 0 || setns(finish->user, CLONE_NEWUSER) < 0 ||
	    setns(finish->mounts, CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	vec_each(row, &finish->plan->mounts) {
		if (row->staged && !move_staged(row, descriptors, &finish->changed)) {
			finish->failed = row;
			return false;
		}
	}
	return true;
}

static int child_main(void *data)
{
	struct finish *finish = data;

	finish->done = finish_inside(finish);
	finish->error = errno;
	return 0;
}

// False with errno.
static bool finish_by_child(struct finish *finish, struct arena *arena)
{
	char *stack = arena_alloc(arena, STACK);
	// No signal at its end: the supervisor would take it for bwrap's.
	pid_t pid = clone(child_main, stack + STACK, CLONE_VM | CLONE_VFORK, finish);

	if (pid < 0)
		return false;
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	errno = finish->error;
	return finish->done;
}

bool box_finish_mounts(const struct plan *plan, pid_t init, struct error *error)
{
	CLEANUP_FD int mounts = open(arena_printf(error->arena, "/proc/%d/ns/mnt", (int)init),
				     O_RDONLY | O_CLOEXEC);
	CLEANUP_FD int user = mounts < 0 ? -1 : ioctl(mounts, NS_GET_USERNS);
	struct finish finish = { .plan = plan, .user = user, .mounts = mounts };

	if (user >= 0 && finish_by_child(&finish, error->arena))
		return true;
	if (!finish.failed)
		return error_set(error, "cannot keep later mounts out of the box: %s",
				 strerror(errno));
	if (finish.changed)
		return file_changed_error(finish.failed->path, error);
	error_hint(error, "claudebox --check shows what this kernel has");
	return error_set(error, "cannot mount at '%s': %s",
			 quote_display(error->arena, finish.failed->path, 0), strerror(errno));
}
