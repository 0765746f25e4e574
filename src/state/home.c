// SPDX-License-Identifier: MIT
// Creates the kept home of a box, and the mount points and links in it.
//
// Theory of operation: boxes write the home, and another box may change it at this moment. It is
// opened once, and every name in it is reached from there, one directory at a time, without
// following a link. No file of it is opened: descriptors are O_PATH. What a box left in the place
// of a mount point is renamed and reported. bwrap mounts nothing here; box_finish_mounts() moves
// the mounts to these points, and opens each of them again without following a link.
#include "state/home.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "config/limits.h"
#include "plan/plan.h"
#include "plan/state/layout.h"
#include "probe/tree_size.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/lock.h"
#include "sys/output.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

// Another box can take names and swap entries meanwhile: the rounds are bounded.
enum { ATTEMPTS = 16, MOVED_NUMBERS = 99, MOVED_ATTEMPTS = 110, KEPT_MAX = 9999, KEPT_NAME = 200 };
// The walk at the end of a session takes at most about a second.
enum { MEASURED_ENTRIES = 500 * 1000 };

struct home {
	int fd;
	struct error *error;
};

// What to do with an entry that is in the way of a directory or mount point.
enum obstacle {
	OBSTACLE_LEAVE,
	OBSTACLE_RENAME,
};

static const char *moved_name(struct arena *arena, const char *name, int attempt)
{
	unsigned long long random = 0;

	// A name has at most 255 bytes: a longer one is cut.
	if (attempt <= MOVED_NUMBERS)
		return arena_printf(arena, "%.*s.moved-%d", KEPT_NAME, name, attempt);
	if (getrandom(&random, sizeof(random), 0) < 0)
		random = (unsigned long long)attempt;
	return arena_printf(arena, "%.*s.moved-%016llx", KEPT_NAME, name, random);
}

// Renames an entry to a free name beside it, and reports that. `shown` is its path below the home.
static bool rename_obstacle(const struct home *home, int directory, const char *name,
			    const char *shown)
{
	struct arena *arena = home->error->arena;

	for (int i = 1; i <= MOVED_ATTEMPTS; i++) {
		const char *moved = moved_name(arena, name, i);

		if (renameat2(directory, name, directory, moved, RENAME_NOREPLACE) == 0) {
			output_message("claudebox",
				       "'~/%s' in the box's home was in the way of a mount, and is "
				       "now named '%s'",
				       quote_display(arena, shown, 0),
				       quote_display(arena, moved, 0));
			return true;
		}
		if (errno == ENOENT)
			return true;
		if (errno != EEXIST)
			break;
	}
	return write_fail(home->error, "rename", shown);
}

// Gives the owner all permissions of a directory: a box can remove them.
static bool restore_permissions(int directory)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", directory);
	return chmod(path, 0700) == 0;
}

// Restores the permissions of a directory that root has opened without them: the user of root's box
// is not root.
static void restore_for_root(int directory)
{
	struct stat status;

	if (getuid() == 0 && fstat(directory, &status) == 0 && (status.st_mode & 0700) != 0700)
		restore_permissions(directory);
}

// Opens a directory of `parent`, and creates it if it is missing. Returns -1 with an error, or
// without one if an obstacle is left in place.
static int enter(const struct home *home, int parent, const char *name, const char *shown,
		 enum obstacle obstacle)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0) {
			restore_for_root(fd);
			return fd;
		}
		if (errno == ENOENT && (mkdirat(parent, name, 0700) == 0 || errno == EEXIST))
			continue;
		if (errno == EACCES && restore_permissions(parent))
			continue;
		if (errno != ENOTDIR && errno != ELOOP)
			break;
		if (obstacle == OBSTACLE_LEAVE)
			return -1;
		if (!rename_obstacle(home, parent, name, shown))
			return -1;
	}
	write_fail(home->error, "create directory", shown);
	return -1;
}

// Makes an empty file, the mount point of a file.
static bool make_file(const struct home *home, int parent, const char *name, const char *shown)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		CLEANUP_FD int fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		CLEANUP_FD int new = -1;
		struct stat status;

		if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
			return true;
		if (fd >= 0 && !rename_obstacle(home, parent, name, shown))
			return false;
		new = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			     0600);
		if (new >= 0)
			return true;
		if (errno != EEXIST && !(errno == EACCES && restore_permissions(parent)))
			break;
	}
	return write_fail(home->error, "create", shown);
}

// Opens a directory below the home, and creates what is missing of it; "": the home itself. Returns
// -1 like enter().
static int open_below(const struct home *home, const char *path, enum obstacle obstacle)
{
	CLEANUP_FD int at = -1;

	if (getuid() != 0) // root checks the permissions of each directory
		at = file_open(home->fd, *path ? path : ".", O_PATH | O_DIRECTORY);
	if (at >= 0)
		return take_fd(&at);
	at = fcntl(home->fd, F_DUPFD_CLOEXEC, 0);
	for (const char *rest = path; at >= 0 && *rest;) {
		size_t length = strcspn(rest, "/");
		const char *name = arena_strndup(home->error->arena, rest, length);
		const char *shown =
			arena_strndup(home->error->arena, path, (size_t)(rest + length - path));
		int next = enter(home, at, name, shown, obstacle);

		close(at);
		at = next;
		rest += length + strspn(rest + length, "/");
	}
	return take_fd(&at);
}

// Returns the part of a path of the box below the home.
static const char *below_home(const struct plan *plan, const char *path)
{
	return path + strlen(plan->home) + 1;
}

// Returns the directory of a relative path, "": none.
static const char *directory_of(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? arena_strndup(arena, path, (size_t)(slash - path)) : "";
}

static bool make_point(const struct home *home, const struct plan *plan,
		       const struct plan_mount *mount)
{
	const char *path = below_home(plan, mount->path);
	bool is_file = mount->id.type && !S_ISDIR(mount->id.type);
	bool is_mount = mount->staged != NULL;
	CLEANUP_FD int at = -1;

	at = open_below(home, is_file ? directory_of(home->error->arena, path) : path,
			is_mount ? OBSTACLE_RENAME : OBSTACLE_LEAVE);
	if (at < 0)
		return !is_mount && !home->error->message;
	return !is_file || make_file(home, at, path_name(path), path);
}

// Removes the link of an earlier launch if it is still the same.
static void remove_earlier(int directory, const struct plan_home_link *link, const char *name)
{
	char target[PATH_MAX];
	ssize_t length = link->earlier && !str_equal(link->earlier, link->target)
				 ? readlinkat(directory, name, target, sizeof(target) - 1)
				 : -1;

	if (length < 0)
		return;
	target[length] = '\0';
	if (str_equal(target, link->earlier))
		unlinkat(directory, name, 0);
}

static bool make_link(const struct home *home, const struct plan_home_link *link)
{
	const char *parent = directory_of(home->error->arena, link->name);
	const char *name = path_name(link->name);
	CLEANUP_FD int at = -1;

	if (link->target)
		at = open_below(home, parent, OBSTACLE_LEAVE);
	else
		at = file_open(home->fd, *parent ? parent : ".", O_PATH | O_DIRECTORY);
	if (at < 0)
		return !home->error->message;
	remove_earlier(at, link, name);
	if (!link->target || symlinkat(link->target, at, name) == 0 || errno == EEXIST)
		return true;
	if (errno == EACCES && restore_permissions(at) && symlinkat(link->target, at, name) == 0)
		return true;
	return write_fail(home->error, "create link", link->name);
}

// Takes the lock of the shared home. Waits for a removal in progress.
static int lock_shared(int parent, struct error *error)
{
	CLEANUP_FD int lock = lock_open(parent, STATE_HOME ".lock");

	if (lock < 0) {
		write_fail(error, "write", STATE_HOME ".lock");
		return -1;
	}
	while (flock(lock, LOCK_SH) < 0 && errno == EINTR)
		;
	return take_fd(&lock);
}

static bool make_entries(const struct home *home, const struct plan *plan)
{
	vec_each(mount, &plan->mounts) {
		if (mount->created && mount->kind != MOUNT_LINK && !make_point(home, plan, mount))
			return false;
	}
	vec_each(link, &plan->state.home_links) {
		if (!make_link(home, link))
			return false;
	}
	return true;
}

bool home_set_aside(int directory, const char **ret_name, struct error *error)
{
	*ret_name = NULL;
	for (int i = 1; i <= KEPT_MAX; i++) {
		const char *name = arena_printf(error->arena, STATE_HOME_KEPT "%d", i);

		if (renameat2(directory, STATE_HOME, directory, name, RENAME_NOREPLACE) == 0) {
			*ret_name = name;
			return true;
		}
		if (errno == ENOENT)
			return true;
		if (errno != EEXIST)
			break;
	}
	return write_fail(error, "rename", STATE_HOME);
}

// Sets the present home aside if the user has asked for an empty one.
static bool empty_home(int parent, const struct plan_state *state, struct error *error)
{
	const char *kept;

	if (!state->empty_home)
		return true;
	if (!home_set_aside(parent, &kept, error))
		return false;
	if (kept)
		output_message(
			"claudebox", "the earlier home is kept as '%s' until claudebox --gc=home",
			quote_display(error->arena,
				      path_join(error->arena,
						path_parent(error->arena, state->home), kept),
				      0));
	return true;
}

void home_measure(const struct plan *plan, struct arena *arena)
{
	const char *home = plan->state.home;
	struct error error = { .arena = arena };
	struct tree_size size = { 0 };
	CLEANUP_FD int parent = -1;

	// The home of --prove has another name, and is removed.
	if (!home || !plan->config->limits[LIMIT_HOME].value ||
	    !str_equal(path_name(home), STATE_HOME))
		return;
	parent = file_open(AT_FDCWD, path_parent(arena, home), O_RDONLY | O_DIRECTORY);
	if (parent < 0)
		return;
	tree_size_add(&size, parent, path_name(home), MEASURED_ENTRIES);
	if (!replace_file(parent, STATE_HOME ".size",
			  arena_printf(arena, "%llu\n", (unsigned long long)size.bytes), &error))
		output_error(&error);
}

bool home_prepare(const struct plan *plan, int *ret_lock, struct error *error)
{
	const struct plan_state *state = &plan->state;
	struct home home = { .fd = -1, .error = error };
	CLEANUP_FD int parent = -1;
	bool ok;

	*ret_lock = -1;
	if (!state->home)
		return true;
	parent =
		file_open(AT_FDCWD, path_parent(error->arena, state->home), O_RDONLY | O_DIRECTORY);
	if (parent < 0)
		return write_fail(error, "open", state->home);
	if (plan->config->home == HOME_SHARED) {
		*ret_lock = lock_shared(parent, error);
		if (*ret_lock < 0)
			return false;
	}
	if (!empty_home(parent, state, error))
		return false;
	home.fd = open_directory(parent, path_name(state->home), state->home, error);
	if (home.fd < 0)
		return false;
	ok = make_entries(&home, plan) &&
	     (!state->new_home_links ||
	      replace_file(parent, STATE_HOME ".links", state->new_home_links, error));
	close(home.fd);
	return ok;
}
