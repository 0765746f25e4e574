// SPDX-License-Identifier: MIT
// Mounts that protect places of the project in a box.
//
// Theory of operation: a mount keeps the box from replacing, renaming or removing its mount point,
// and a read-only one from writing to it. It is created detached, made read-only and then
// attached, so the place is never covered by a writable mount. A file of git's configuration is
// covered by a symbolic link to a copy in a directory of claudebox. Git resolves the link before
// it creates its lock file, so it reads and writes the copy, and the file of the host cannot be
// reached. A directory of generated hooks is covered by its copy itself. The kernel mounts a link
// only with open_tree(2) and move_mount(2); without them both are read-only. A program of the host
// that replaces a file removes the mounts on it in all boxes. The guard notices it and calls
// protect_again().
#include "guard/protect.h"

#include "base/file.h"
#include "plan/guard/facts.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK_SIZE = 32 * 1024, DESCRIPTOR_DIGITS = 16 };

struct again {
	const struct guard_place *place;
	const char *copy;
	int user_namespace;
	int mount_namespace;
	bool done;
	bool mounted;
	int error;
};

// Attaches a detached mount over a file.
static bool attach(int tree, int target)
{
	return syscall(SYS_move_mount, tree, "", target, "",
		       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

// Mounts a link or a directory of the box.
static bool mount_copy(const char *link, int target)
{
	CLEANUP_FD int tree =
		(int)syscall(SYS_open_tree, AT_FDCWD, link,
			     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);

	return tree >= 0 && attach(tree, target);
}

// Mounts a file or directory over itself, with what is mounted below it.
static bool mount_itself(int target, bool read_only)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY };
	CLEANUP_FD int tree =
		(int)syscall(SYS_open_tree, target, "",
			     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);

	if (tree < 0)
		return false;
	if (read_only && syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
				 &attributes, sizeof(attributes)) < 0)
		return false;
	return attach(tree, target);
}

// Does the same with mount(2), for kernels before 5.12 and containers that refuse the calls above.
static bool mount_itself_slowly(const char *path, int target, int fd_directory, bool read_only)
{
	char name[DESCRIPTOR_DIGITS];
	struct statvfs flags;
	int mounted;
	bool ok;

	snprintf(name, sizeof(name), "%d", target);
	if (fchdir(fd_directory) < 0 || mount(name, name, NULL, MS_BIND | MS_REC, NULL) < 0)
		return false;
	if (!read_only)
		return true;
	mounted = file_open(AT_FDCWD, path, O_PATH);
	snprintf(name, sizeof(name), "%d", mounted);
	ok = mounted >= 0 && fstatvfs(mounted, &flags) == 0 &&
	     mount(NULL, name, NULL,
		   MS_BIND | MS_REMOUNT | MS_RDONLY |
			   (flags.f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME |
					    MS_NODIRATIME | MS_RELATIME)),
		   NULL) == 0;
	if (mounted >= 0)
		close(mounted);
	return ok;
}

bool protect_place(const struct guard_place *place, const char *copy, int fd_directory,
		   bool *ret_changed)
{
	CLEANUP_FD int target = file_open(AT_FDCWD, place->path, O_PATH);
	bool read_only = place->mount != GUARD_PIN;

	*ret_changed = target < 0 || !file_is_same(target, &place->id);
	if (*ret_changed) {
		errno = ESTALE;
		return false;
	}
	return (place->mount == GUARD_COPY && copy && mount_copy(copy, target)) ||
	       mount_itself(target, read_only) ||
	       mount_itself_slowly(place->path, target, fd_directory, read_only);
}

// Returns whether the path is still a mount point in this namespace: the root of a mount has
// another mount id than its directory, or is a link.
static bool is_protected(const char *path)
{
	struct statx file;

	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS,
		     &file) == 0 &&
	       (file.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static bool mount_again(struct again *again)
{
	CLEANUP_FD int fd_directory = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool changed;

	if (fd_directory < 0 || setns(again->user_namespace, CLONE_NEWUSER) < 0 ||
	    setns(again->mount_namespace, CLONE_NEWNS) < 0)
		return false;
	if (is_protected(again->place->path))
		return true;
	again->mounted = protect_place(again->place, again->copy, fd_directory, &changed);
	return again->mounted;
}

static int child_main(void *data)
{
	struct again *again = data;

	again->done = mount_again(again);
	again->error = errno;
	return 0;
}

bool protect_again(pid_t init, const struct guard_place *place, const char *copy, bool *ret_mounted)
{
	CLEANUP_FD int mounts = process_open_namespace(init, "mnt");
	CLEANUP_FD int user = mounts < 0 ? -1 : ioctl(mounts, NS_GET_USERNS);
	struct again again = {
		.place = place, .copy = copy, .user_namespace = user, .mount_namespace = mounts
	};
	static char stack[STACK_SIZE] __attribute__((aligned(16)));
	pid_t pid = user < 0
			    ? -1
			    : clone(child_main, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK, &again);

	*ret_mounted = false;
	if (pid < 0)
		return false;
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	errno = again.error;
	*ret_mounted = again.mounted;
	return again.done;
}
