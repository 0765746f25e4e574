// SPDX-License-Identifier: MIT
// Completes the mounts of the box after bwrap: makes them private and moves the staged mounts.
//
// Theory of operation: the mounts that bwrap creates are slaves of the host's mounts, so a file
// system that the host mounts later below a shared directory would appear in the box. And while
// bwrap mounts, it can reach the host's files, so a mount point in a directory that a box can write
// to could lead it to a host file by a symbolic link. Such mounts are staged: bwrap mounts them
// elsewhere first (plan_add_mount). The mount namespace belongs to the outer user namespace of
// bwrap, whose owner is the user. After bwrap has set up the sandbox and before the agent starts, a
// child of claudebox enters both namespaces, sets the limits of the user namespace (host_share.c),
// makes every mount private, and moves the staged mounts. It creates no file and follows no
// symbolic link, and the host's root is no longer mounted. Parts of toolchains in the user's home
// are bound from one staged, read-only mount of that home, because bwrap needs more time for each
// mount than the kernel. That mount is removed before the agent starts; if this fails, nothing
// starts. The child shares the memory of claudebox, because copying it would take longer than the
// work.
#include "box/mount_namespace.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "box/discarded.h"
#include "box/host_share.h"
#include "box/inputs.h"
#include "guard/protect.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/process.h"

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
#include <unistd.h>

enum { STACK_SIZE = 16 * 1024 };

struct finish {
	const struct plan *plan;
	struct discarded_places *places;
	const char *carrier; // of the bound mounts, NULL: there are none
	int carrier_fd;
	int user_namespace;
	int mount_namespace;
	bool as_root;
	// Results of the child:
	bool done;
	int error;          // errno
	const char *failed; // path of the mount that failed; NULL: another step failed
	bool changed;       // the mount point is not the file that was probed
};

// Returns whether both are directories, or neither is.
static bool is_same_kind(int fd, const char *path)
{
	struct stat at, other;

	return fstat(fd, &at) == 0 && stat(path, &other) == 0 &&
	       S_ISDIR(at.st_mode) == S_ISDIR(other.st_mode);
}

// Moves a staged mount to its place. The target is a descriptor, because a path can be replaced at
// any time, and its number is its name in the working directory. MS_MOVE works on every kernel and
// in every container where bwrap works.
static bool move_staged(const struct plan_mount *staged, bool *ret_changed)
{
	CLEANUP_FD int target = file_open(AT_FDCWD, staged->path, O_PATH);
	char name[16];

	*ret_changed = target < 0 || !file_is_same(target, &staged->place) ||
		       !is_same_kind(target, staged->staged);
	snprintf(name, sizeof(name), "%d", target);
	return !*ret_changed && mount(staged->staged, name, NULL, MS_MOVE, NULL) == 0 &&
	       remove(staged->staged) == 0; // the mount point that bwrap created
}

// Binds a part of the staged home to its place. It is read-only, as the staged mount is. Runs in a
// process that shares the memory of claudebox, so it allocates nothing.
static bool bind_part(const struct finish *finish, const struct plan_mount *part, bool *ret_changed)
{
	CLEANUP_FD int source = file_open(finish->carrier_fd,
					  part->source + strlen(finish->plan->home) + 1, O_PATH);
	CLEANUP_FD int target = file_open(AT_FDCWD, part->path, O_PATH);
	char from[16], to[16];

	*ret_changed = source < 0 || target < 0 || !file_is_same(source, &part->id) ||
		       !file_is_same(target, &part->place);
	snprintf(from, sizeof(from), "%d", source);
	snprintf(to, sizeof(to), "%d", target);
	return !*ret_changed && mount(from, to, NULL, MS_BIND | MS_REC, NULL) == 0;
}

// Moves or binds the mount of a row, if it is not in its place yet.
static bool place_mount(const struct finish *finish, const struct plan_mount *row,
			bool *ret_changed)
{
	if (row->bound)
		return bind_part(finish, row, ret_changed);
	return !row->staged || row->carried || move_staged(row, ret_changed);
}

// Moves and binds all mounts that are not in their places. The working directory becomes
// /proc/self/fd of the host: this process is not visible in /proc of the box.
static bool place_mounts(struct finish *finish, int fd_directory)
{
	CLEANUP_FD int carrier =
		finish->carrier ? file_open(AT_FDCWD, finish->carrier, O_PATH | O_DIRECTORY) : -1;

	if ((finish->carrier && carrier < 0) || fchdir(fd_directory) < 0)
		return false;
	finish->carrier_fd = carrier;
	vec_each(row, &finish->plan->mounts) {
		if (!place_mount(finish, row, &finish->changed)) {
			finish->failed = row->path;
			return false;
		}
	}
	return true;
}

// Removes the staged mount of the host's home. Its mount point can only be removed if it is gone.
static bool remove_carrier(const struct finish *finish)
{
	return !finish->carrier ||
	       (umount2(finish->carrier, MNT_DETACH) == 0 && rmdir(finish->carrier) == 0);
}

// Makes the files of process 1 in /proc read-only if root started claudebox: they belong to the
// user of the box then, although process 1 is not dumpable, and one of them changes its priority
// (autogroup). root has no nested box, which would need an uncovered /proc.
static bool protect_process_1(const struct finish *finish)
{
	static const char files[] = "/proc/1";

	return !finish->as_root ||
	       (mount(files, files, NULL, MS_BIND, NULL) == 0 &&
		mount(NULL, files, NULL,
		      MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
		      NULL) == 0);
}

// Makes the device files read-only: they are the host's, and belong to the user of the box if root
// started claudebox. Reading and writing the devices works on a read-only mount.
static bool protect_devices(const struct finish *finish)
{
	static const char *const devices[] = { "/dev/null",   "/dev/zero",    "/dev/full",
					       "/dev/random", "/dev/urandom", "/dev/tty" };

	for (size_t i = 0; finish->as_root && i < ARRAY_SIZE(devices); i++)
		if (mount(NULL, devices[i], NULL,
			  MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL) < 0 &&
		    errno != EINVAL && errno != ENOENT) // not a mount: it is no file of the host
			return false;
	return true;
}

// Returns the link in the box that is mounted over a git configuration, NULL: none.
static const char *find_copy(const struct plan *plan, const char *config)
{
	vec_each(copy, &plan->guard.copies) {
		if (copy->config == config)
			return copy->link;
	}
	return NULL;
}

// Mounts over the places of the project that the host executes or trusts.
static bool protect_places(struct finish *finish, int fd_directory)
{
	vec_each(place, &finish->plan->guard.places) {
		if (!protect_place(place, find_copy(finish->plan, place->path), fd_directory,
				   &finish->changed)) {
			finish->failed = place->path;
			return false;
		}
	}
	return true;
}

static bool finish_inside(struct finish *finish)
{
	CLEANUP_FD int fd_directory = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct host_share share = host_share_read();

	if (fd_directory < 0 || setns(finish->user_namespace, CLONE_NEWUSER) < 0)
		return false;
	host_share_apply(&share);
	if (setns(finish->mount_namespace, CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || !protect_process_1(finish) ||
	    !protect_devices(finish))
		return false;
	if (!place_mounts(finish, fd_directory) || !remove_carrier(finish) ||
	    !protect_places(finish, fd_directory))
		return false;
	discarded_open(finish->places, finish->plan);
	return true;
}

static int child_main(void *data)
{
	struct finish *finish = data;

	finish->done = finish_inside(finish);
	finish->error = errno;
	return 0;
}

// Runs finish_inside() in a child. Returns false with errno on failure.
static bool finish_in_child(struct finish *finish, struct arena *arena)
{
	char *stack = arena_alloc(arena, STACK_SIZE);
	// The child sends no SIGCHLD when it ends, which the supervisor would take for the end of
	// bwrap. It shares the descriptors, to leave those of the directories in memory.
	pid_t pid =
		clone(child_main, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_FILES, finish);

	if (pid < 0)
		return false;
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	errno = finish->error;
	return finish->done;
}

const char *mount_carrier_path(struct arena *arena, const struct plan *plan)
{
	return arena_printf(arena, "/run/user/%u/staged-home", plan->uid);
}

bool box_finish_mounts(const struct plan *plan, pid_t init, struct discarded_places *places,
		       struct error *error)
{
	CLEANUP_FD int mounts = process_open_namespace(init, "mnt");
	CLEANUP_FD int user = mounts < 0 ? -1 : ioctl(mounts, NS_GET_USERNS);
	struct finish finish = { .plan = plan,
				 .places = places,
				 .user_namespace = user,
				 .mount_namespace = mounts,
				 .as_root = getuid() == 0 };

	vec_each(mount, &plan->mounts) {
		if (mount->bound && !finish.carrier)
			finish.carrier = mount_carrier_path(error->arena, plan);
	}

	if (user >= 0 && finish_in_child(&finish, error->arena))
		return true;
	if (!finish.failed)
		return error_set(error, "cannot finish the mounts of the box: %s", strerror(errno));
	if (finish.changed)
		return file_changed_error(finish.failed, error);
	error_set(error, "cannot mount at '%s': %s", quote_display(error->arena, finish.failed, 0),
		  strerror(errno));
	return error_hint(error, "run claudebox --check to see what this kernel supports");
}
