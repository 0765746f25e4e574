// SPDX-License-Identifier: MIT
// Measures directory trees. Boxes write them, so depth and number of entries are limited.
#include "probe/tree_size.h"

#include "base/text.h"
#include "sys/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 64 };

struct walk {
	struct tree_size *size;
	uint64_t entries_max;
};

// Returns whether an entry counts: the rest of another file system does not.
static bool belongs(struct tree_size *size, const struct stat *status)
{
	if (!size->started)
		size->device = status->st_dev;
	size->started = true;
	return status->st_dev == size->device;
}

static void add_directory(const struct walk *walk, int parent, const char *name, int depth)
{
	struct tree_size *size = walk->size;
	CLEANUP_FD int fd =
		openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	CLEANUP_DIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat status;

	if (!directory) {
		size->incomplete |= errno != ENOENT;
		return;
	}
	take_fd(&fd);
	size->directories++;
	while ((entry = readdir(directory))) {
		if (str_equal(entry->d_name, "..") ||
		    fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !belongs(size, &status) || (size->skips && size->skips(entry->d_name)))
			continue;
		if (++size->entries > walk->entries_max) {
			size->incomplete = true;
			return;
		}
		if (!S_ISDIR(status.st_mode) || str_equal(entry->d_name, "."))
			size->bytes += (uint64_t)status.st_blocks * 512;
		else if (depth < DEPTH_MAX)
			add_directory(walk, dirfd(directory), entry->d_name, depth + 1);
		else
			size->incomplete = true;
	}
}

void tree_size_add(struct tree_size *size, int parent, const char *name, uint64_t entries_max)
{
	add_directory(&(struct walk){ .size = size, .entries_max = entries_max }, parent, name, 0);
}
