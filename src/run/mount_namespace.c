// SPDX-License-Identifier: MIT
// Cuts the box's mounts off from the host's: what is mounted there later must not show up inside.
//
// Theory of operation: bwrap's mounts are slaves of the host's, so a file system that the host mounts below a shared
// directory while the box runs would appear in the box. The namespace belongs to the user namespace that bwrap made
// first, which is ours: once bwrap is done, and before the agent starts, a child of ours enters both and makes every
// mount private. The child shares our memory: to copy it would take longer than the work.
#include "run/run.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>

enum { STACK = 16 * 1024 };

struct namespaces {
	int user;
	int mounts;
	int error; // errno of what failed in the child
};

static int cut_off(void *data)
{
	struct namespaces *namespaces = data;

	if (setns(namespaces->user, CLONE_NEWUSER) < 0 ||
	    setns(namespaces->mounts, CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		namespaces->error = errno;
	return 0;
}

bool run_cut_off_mounts(pid_t init, struct arena *arena)
{
	CLEANUP_FD int mounts =
		open(arena_printf(arena, "/proc/%d/ns/mnt", (int)init), O_RDONLY | O_CLOEXEC);
	CLEANUP_FD int user = mounts < 0 ? -1 : ioctl(mounts, NS_GET_USERNS);
	struct namespaces namespaces = { .user = user, .mounts = mounts };
	char *stack = arena_alloc(arena, STACK);
	pid_t pid;

	if (user < 0)
		return false;
	// No signal at its end: the supervisor would take it for bwrap's.
	pid = clone(cut_off, stack + STACK, CLONE_VM | CLONE_VFORK, &namespaces);
	if (pid < 0)
		return false;
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	errno = namespaces.error;
	return errno == 0;
}
