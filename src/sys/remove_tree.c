// SPDX-License-Identifier: MIT
// Removes directory trees with untrusted content.
//
// Theory of operation: a box can create directories of any depth, fill them and remove their mode
// bits. So the code does not descend into the tree. It moves each directory that is not empty up to
// the top and empties it there, which needs three descriptors for any depth. A mount point cannot
// be moved, so mounted file systems are never entered.
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
	unsigned long moved; // number of the next directory that is moved to the top
	bool progress;       // something was removed or moved in this pass
	int problem;         // errno of the last failure in this pass, 0: none
};

// Records errno as the problem of this pass.
static void record_problem(struct removal *removal)
{
	if (errno != ENOENT)
		removal->problem = errno;
}

// Opens a directory, and sets its mode to 0700 when the owner lacks permissions. Does not follow a
// link. Returns -1 with errno.
static int open_writable(int parent, const char *name)
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

// Moves a directory to the top under a new name. Returns that name, or NULL with errno.
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

// Removes a file or an empty directory. A missing entry counts as removed. Returns false with
// errno.
static bool remove_entry(struct removal *removal, int parent, const char *name)
{
	if (unlinkat(parent, name, 0) == 0 ||
	    ((errno == EISDIR || errno == EPERM) && unlinkat(parent, name, AT_REMOVEDIR) == 0)) {
		removal->progress = true;
		return true;
	}
	return errno == ENOENT;
}

// Empties a directory at the top: removes its entries, or moves them to the top. Then removes it.
static void empty_directory(struct removal *removal, const char *name)
{
	CLEANUP_FD int fd = open_writable(removal->top, name);
	CLEANUP_DIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	char moved[64];

	if (!directory) {
		record_problem(removal);
		return;
	}
	take_fd(&fd);
	while ((entry = readdir(directory))) {
		if (!is_entry(entry->d_name) ||
		    remove_entry(removal, dirfd(directory), entry->d_name))
			continue;
		// A directory can only be moved when it is writable.
		if (errno == ENOTEMPTY) {
			CLEANUP_FD int inner = open_writable(dirfd(directory), entry->d_name);

			if (inner < 0 || !move_up(removal, dirfd(directory), entry->d_name, moved,
						  sizeof(moved)))
				record_problem(removal);
		} else {
			record_problem(removal);
		}
	}
	remove_entry(removal, removal->top, name);
}

// Tries to remove each entry at the top. Returns whether there was any entry.
static bool remove_entries(struct removal *removal, DIR *top)
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
		if (remove_entry(removal, removal->top, name))
			continue;
		if (errno != ENOTEMPTY) {
			record_problem(removal);
			continue;
		}
		// A mount point cannot be moved, and is not entered.
		if (!str_starts(name, MOVED_PREFIX))
			name = move_up(removal, removal->top, name, buffer, sizeof(buffer));
		if (name)
			empty_directory(removal, name);
		else
			record_problem(removal);
	}
	return any;
}

bool remove_tree(int parent, const char *name, struct error *error)
{
	CLEANUP_FD int fd = open_writable(parent, name);
	CLEANUP_FD int top = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	CLEANUP_DIR DIR *directory = top < 0 ? NULL : fdopendir(fd);
	struct removal removal = { .top = top, .progress = true };

	if (!directory && errno == ENOENT)
		return true;
	if (directory) {
		take_fd(&fd);
		while (remove_entries(&removal, directory) && removal.progress)
			;
		if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return true;
		if (removal.problem)
			errno = removal.problem;
	}
	error_set(error, "cannot remove all of '%s': %s", quote_display(error->arena, name, 0),
		  strerror(errno));
	return error_hint(error, "check for other owners, immutable files and mounts in it, then "
				 "run `claudebox --gc` again");
}
