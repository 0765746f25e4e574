// SPDX-License-Identifier: MIT
// Writes files in directories that a box can change: follows no symbolic link, writes no file in
// place.
#include "sys/write.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "sys/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool write_fail(struct error *error, const char *operation, const char *path)
{
	int code = errno;

	error_set(error, "cannot %s '%s': %s", operation, quote_display(error->arena, path, 0),
		  strerror(code));
	if (code == ENOSPC || code == EDQUOT)
		return error_hint(error, "the disk is full: free some space and start again");
	if (code == EFBIG)
		return error_hint(error, "raise the limit on file size: `ulimit -f unlimited`");
	if (code == EROFS)
		return error_hint(error, "claudebox stores its state there: make it writable");
	return error_hint(error, "check the owner and mode of that path and of its directory");
}

// Sets the mode of a directory to 0700 and opens it. A box can remove the permissions of a
// directory that it writes to, and a umask those of a new one.
static int open_with_mode_0700(int parent, const char *name)
{
	CLEANUP_FD int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || chmod(path, 0700) < 0)
		return -1;
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int open_directory(int parent, const char *name, const char *shown, struct error *error)
{
	bool created = mkdirat(parent, name, 0700) == 0;
	int fd;

	if (!created && errno != EEXIST) {
		write_fail(error, "create directory", shown);
		return -1;
	}
	fd = created ? -1 : openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (created || errno == EACCES))
		fd = open_with_mode_0700(parent, name);
	if (fd < 0)
		write_fail(error, "open directory", shown);
	return fd;
}

bool write_kernel_file(int directory, const char *name, const char *value)
{
	CLEANUP_FD int fd = openat(directory, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t length = strlen(value);

	return fd >= 0 && write(fd, value, length) == (ssize_t)length;
}

bool write_all(int fd, const void *bytes, size_t count)
{
	for (const char *at = bytes; count;) {
		ssize_t done = write(fd, at, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		at += done;
		count -= (size_t)done;
	}
	return true;
}

bool move_aside(int directory, const char *name, struct error *error)
{
	struct stat status;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || write_fail(error, "examine", name);
	if (S_ISLNK(status.st_mode))
		return unlinkat(directory, name, 0) == 0 || errno == ENOENT ||
		       write_fail(error, "remove", name);
	for (int i = 0; i < 100; i++) {
		const char *aside = arena_printf(error->arena, "%s.own%.0d", name, i);

		if (renameat2(directory, name, directory, aside, RENAME_NOREPLACE) == 0)
			return true;
		if (errno != EEXIST)
			break;
	}
	return write_fail(error, "rename", name);
}

static bool is_directory(int directory, const char *name)
{
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(status.st_mode);
}

bool replace_file(int directory, const char *name, const char *content, struct error *error)
{
	const char *temporary = arena_printf(error->arena, ".claudebox-%d-%s", getpid(), name);
	CLEANUP_FD int fd = -1;

	if (is_directory(directory, name) && !move_aside(directory, name, error))
		return false;
	if (is_directory(directory, temporary) && !move_aside(directory, temporary, error))
		return false;
	unlinkat(directory, temporary, 0);
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return write_fail(error, "write", name);
	// The umask may have removed permissions that claudebox needs to read the file later.
	if (fchmod(fd, 0600) < 0 || !write_all(fd, content, strlen(content)) || fsync(fd) < 0 ||
	    renameat(directory, temporary, directory, name) < 0) {
		write_fail(error, "write", name);
		unlinkat(directory, temporary, 0);
		return false;
	}
	return true;
}
