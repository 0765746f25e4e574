// SPDX-License-Identifier: MIT
// Opens files and directories that a session has closed for their owner.
#include "snapshot/take/closed.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINK_SIZE = 40, MOST_DIRECTORIES = 200000 };

// Returns whether a session may have taken away permissions of a file or directory of this user.
static bool is_closed(const struct stat *status, int64_t since_ms)
{
	return status->st_uid == geteuid() && clock_ms(&status->st_ctim) >= since_ms;
}

void closed_open_file(const char *path, int64_t since_ms)
{
	CLEANUP_FD int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char link[LINK_SIZE];
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    (status.st_mode & S_IRUSR) || !is_closed(&status, since_ms))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	chmod(link, (status.st_mode & 07777) | S_IRUSR);
}

// Gives the owner all permissions on the directories above a path that lack them. Returns whether
// there was one.
static bool open_directories(struct arena *arena, const char *project, const char *path)
{
	CLEANUP_FD int directory = open(project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *slash;

	for (; directory >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		const char *name = arena_strndup(arena, path, (size_t)(slash - path));
		int next = openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		struct stat status;

		close(directory);
		directory = next;
		if (next < 0 || fstat(next, &status) < 0 || (status.st_mode & S_IRWXU) == S_IRWXU)
			continue;
		return chmod(arena_printf(arena, "/proc/self/fd/%d", next),
			     (status.st_mode & 07777) | S_IRWXU) == 0;
	}
	return false;
}

// Opens a directory and all below it for their owner. Follows no link.
static void open_tree(int parent, const char *name, int64_t since_ms, size_t *left)
{
	CLEANUP_FD int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_DIR DIR *stream = NULL;
	const struct dirent *entry;
	char link[LINK_SIZE];
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !*left)
		return;
	--*left;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if ((status.st_mode & S_IRWXU) != S_IRWXU && is_closed(&status, since_ms))
		chmod(link, (status.st_mode & 07777) | S_IRWXU);
	stream = open_directory_stream(fd, ".");
	while (stream && (entry = readdir(stream)))
		if ((entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) &&
		    !str_equal(entry->d_name, ".") && !str_equal(entry->d_name, "..") &&
		    !str_equal(entry->d_name, ".git"))
			open_tree(dirfd(stream), entry->d_name, since_ms, left);
}

bool closed_open_paths(struct arena *arena, const char *project, const struct text *paths,
		       int64_t since_ms)
{
	const char *end = text_get(paths) + paths->length;
	bool found = false;
	struct stat status;

	for (const char *path = text_get(paths); path < end; path += strlen(path) + 1) {
		const char *full = path_join(arena, project, path);

		while (lstat(full, &status) < 0 && errno == EACCES &&
		       open_directories(arena, project, path))
			found = true;
		closed_open_file(full, since_ms);
	}
	return found;
}

void closed_open_tree(const char *project, int64_t since_ms)
{
	size_t directories = MOST_DIRECTORIES;

	open_tree(AT_FDCWD, project, since_ms, &directories);
}
