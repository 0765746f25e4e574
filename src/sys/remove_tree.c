// SPDX-License-Identifier: MIT
// Removes a tree that somebody else made.
//
// Theory of operation: a box can make directories as deep as it likes, take their rights away, and fill them. So nothing is
// descended into: each directory that is not empty is moved up to the top and emptied there, which needs three
// descriptors for any depth. A mount point cannot be moved, so what is mounted in the tree is never looked into.
#include "sys/remove_tree.h"

#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "sys/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MOVED_PREFIX ".claudebox-removing-"

struct removal {
	int top;
	unsigned long moved; // number of the next that is moved to the top
	bool progress;       // in this pass
	int problem;         // errno of what could not be removed in this pass
};

static void note(struct removal *removal)
{
	if (errno != ENOENT)
		removal->problem = errno;
}

// With all rights for us, and never through a link; -1 with errno.
static int open_fully(int parent, const char *name)
{
	CLEANUP_FD int place = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	char path[64];

	if (place < 0 || fstat(place, &status) < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	if ((status.st_mode & 0700) != 0700 && chmod(path, 0700) < 0)
		return -1;
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Moves a directory to the top under a new name. NULL with errno.
static const char *move_up(struct removal *removal, int parent, const char *name, char *buffer,
			   size_t size)
{
	for (;;) {
		snprintf(buffer, size, MOVED_PREFIX "%d-%lu", getpid(), removal->moved++);
		if (renameat2(parent, name, removal->top, buffer, RENAME_NOREPLACE) == 0) {
			removal->progress = true;
			return buffer;
		}
		if (errno != EEXIST)
			return NULL;
	}
}

static bool is_entry(const char *name)
{
	return !str_equal(name, ".") && !str_equal(name, "..");
}

// False: it is a directory with something in it, or cannot be removed (errno).
static bool remove_simple(struct removal *removal, int parent, const char *name)
{
	if (unlinkat(parent, name, 0) == 0 ||
	    ((errno == EISDIR || errno == EPERM) && unlinkat(parent, name, AT_REMOVEDIR) == 0)) {
		removal->progress = true;
		return true;
	}
	return errno == ENOENT;
}

// Everything in one directory goes, or goes up.
static void strip(struct removal *removal, const char *name)
{
	CLEANUP_FD int fd = open_fully(removal->top, name);
	CLEANUP_DIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	char moved[64];

	if (!directory) {
		note(removal);
		return;
	}
	take_fd(&fd);
	while ((entry = readdir(directory))) {
		if (!is_entry(entry->d_name) ||
		    remove_simple(removal, dirfd(directory), entry->d_name))
			continue;
		// To be moved, a directory must be writable.
		if (errno == ENOTEMPTY) {
			CLEANUP_FD int inner = open_fully(dirfd(directory), entry->d_name);

			if (inner < 0 || !move_up(removal, dirfd(directory), entry->d_name, moved,
						  sizeof(moved)))
				note(removal);
		} else {
			note(removal);
		}
	}
	remove_simple(removal, removal->top, name);
}

// Goes over the top once; true when there was anything.
static bool pass(struct removal *removal, DIR *top)
{
	const struct dirent *entry;
	bool any = false;

	rewinddir(top);
	removal->progress = false;
	removal->problem = 0;
	while ((entry = readdir(top))) {
		char buffer[64];
		const char *name = entry->d_name;

		if (!is_entry(name))
			continue;
		any = true;
		if (remove_simple(removal, removal->top, name))
			continue;
		if (errno != ENOTEMPTY) {
			note(removal);
			continue;
		}
		// A mount point stays where it is: then it is not looked into.
		if (!str_starts(name, MOVED_PREFIX))
			name = move_up(removal, removal->top, name, buffer, sizeof(buffer));
		if (name)
			strip(removal, name);
		else
			note(removal);
	}
	return any;
}

bool remove_tree(int parent, const char *name, struct error *error)
{
	CLEANUP_FD int fd = open_fully(parent, name);
	CLEANUP_FD int top = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	CLEANUP_DIR DIR *directory = top < 0 ? NULL : fdopendir(fd);
	struct removal removal = { .top = top, .progress = true };

	if (!directory && errno == ENOENT)
		return true;
	if (directory) {
		take_fd(&fd);
		while (pass(&removal, directory) && removal.progress)
			;
		if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return true;
		if (removal.problem)
			errno = removal.problem;
	}
	error_hint(error,
		   "see what is in the way: owner, mode, mounts; then again: claudebox --gc");
	return error_set(error, "cannot remove all of '%s': %s",
			 quote_display(error->arena, name, 0), strerror(errno));
}
