// SPDX-License-Identifier: MIT
// Directory listings.
#include "sys/list.h"

#include "base/arena.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum { TREE_DEPTH = 16, TREE_ENTRIES = 1000 };

strings list_directory(struct arena *arena, int parent, const char *path)
{
	return list_directory_up_to(arena, parent, path, SIZE_MAX);
}

strings list_directory_up_to(struct arena *arena, int parent, const char *path, size_t max)
{
	CLEANUP_FD int fd = file_open(parent, path, O_RDONLY | O_DIRECTORY);
	CLEANUP_DIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	strings names = { 0 };

	if (directory)
		take_fd(&fd);
	while (directory && names.count < max && (entry = readdir(directory)))
		if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, ".."))
			vec_push(arena, &names, arena_strdup(arena, entry->d_name));
	return names;
}

static bool is_directory(int parent, const struct dirent *entry)
{
	struct stat status;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(parent, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(status.st_mode);
}

static bool has_no_file(int parent, const char *path, int depth, int *budget)
{
	CLEANUP_DIR DIR *directory = depth ? open_directory_stream(parent, path) : NULL;
	const struct dirent *entry;

	if (!directory)
		return false;
	while ((errno = 0, entry = readdir(directory))) {
		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, ".."))
			continue;
		if (!(*budget)-- || !is_directory(dirfd(directory), entry) ||
		    !has_no_file(dirfd(directory), entry->d_name, depth - 1, budget))
			return false;
	}
	return errno == 0;
}

bool directory_has_no_file(int parent, const char *path)
{
	int budget = TREE_ENTRIES;

	return has_no_file(parent, path, TREE_DEPTH, &budget);
}
