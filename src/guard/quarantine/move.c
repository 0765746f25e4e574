// SPDX-License-Identifier: MIT
// Moves files and directories with untrusted content, also between file systems.
//
// Theory of operation: a rename moves an entry in one step. Between file systems the entry is
// copied to a temporary name beside its target, which is then renamed. So the target is never a
// part of the entry, whichever process is killed. The source is removed last.
#include "guard/quarantine/move.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/remove_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

// Of a copy that is not complete. An interrupted move leaves it, and the next one removes it.
#define TEMPORARY ".claudebox-moving"

enum { COPY_DEPTH = 64, CHUNK = 1 << 20 };

static bool copy_file(int from_directory, const char *from, int to_directory, const char *to,
		      const struct stat *status)
{
	const struct timespec times[] = { status->st_atim, status->st_mtim };
	CLEANUP_FD int source =
		openat(from_directory, from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	CLEANUP_FD int target = source < 0 ? -1
					   : openat(to_directory, to,
						    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ssize_t sent;

	if (target < 0)
		return false;
	while ((sent = sendfile(target, source, NULL, CHUNK)) > 0)
		;
	return sent == 0 && fchmod(target, status->st_mode & 0777) == 0 &&
	       futimens(target, times) == 0;
}

static bool copy_link(int from_directory, const char *from, int to_directory, const char *to)
{
	char target[4096];
	ssize_t length = readlinkat(from_directory, from, target, sizeof(target) - 1);

	if (length < 0)
		return false;
	target[length] = '\0';
	return symlinkat(target, to_directory, to) == 0;
}

static bool copy_entry(int from_directory, const char *from, int to_directory, const char *to,
		       int depth)
{
	struct stat status;

	if (fstatat(from_directory, from, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (S_ISREG(status.st_mode))
		return copy_file(from_directory, from, to_directory, to, &status);
	if (S_ISLNK(status.st_mode))
		return copy_link(from_directory, from, to_directory, to);
	if (S_ISFIFO(status.st_mode))
		return mkfifoat(to_directory, to, status.st_mode & 0777) == 0;
	if (!S_ISDIR(status.st_mode))
		return true;
	if (!depth) {
		errno = ELOOP;
		return false;
	}
	if (mkdirat(to_directory, to, 0700) < 0)
		return false;

	CLEANUP_DIR DIR *source = open_directory_stream(from_directory, from);
	CLEANUP_FD int target =
		openat(to_directory, to, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent *entry;

	if (!source || target < 0)
		return false;
	while ((entry = readdir(source)))
		if (!str_equal(entry->d_name, ".") && !str_equal(entry->d_name, "..") &&
		    !copy_entry(dirfd(source), entry->d_name, target, entry->d_name, depth - 1))
			return false;
	return fchmod(target, status.st_mode & 0777) == 0;
}

// Removes a file or a directory. Returns false with errno.
static bool remove_entry(int directory, const char *name, struct arena *arena)
{
	struct error error = { .arena = arena };
	struct stat status;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	if (S_ISDIR(status.st_mode))
		return remove_tree(directory, name, &error);
	return unlinkat(directory, name, 0) == 0 || errno == ENOENT;
}

// Copies an entry to a name that is free. Returns false with errno and leaves nothing.
static bool copy_whole(int from_directory, const char *from, int to_directory, const char *to,
		       struct arena *arena)
{
	struct stat status;
	int problem;

	if (!remove_entry(to_directory, TEMPORARY, arena))
		return false;
	if (copy_entry(from_directory, from, to_directory, TEMPORARY, COPY_DEPTH)) {
		// A socket has no copy.
		if (fstatat(to_directory, TEMPORARY, &status, AT_SYMLINK_NOFOLLOW) < 0)
			return errno == ENOENT;
		if (renameat2(to_directory, TEMPORARY, to_directory, to, RENAME_NOREPLACE) == 0)
			return true;
	}
	problem = errno;
	remove_entry(to_directory, TEMPORARY, arena);
	errno = problem;
	return false;
}

bool move_entry(int from_directory, const char *from, int to_directory, const char *to,
		struct arena *arena)
{
	if (renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EXDEV)
		return false;
	return copy_whole(from_directory, from, to_directory, to, arena) &&
	       remove_entry(from_directory, from, arena);
}
