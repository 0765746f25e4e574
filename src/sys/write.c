// SPDX-License-Identifier: MIT
// Writes files in directories that a box can change: follows no symbolic link, writes no file in
// place.
#include "sys/write.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/text.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define TEMPORARY_PREFIX ".claudebox-"

enum { ASIDE_NUMBERS = 100, ASIDE_ATTEMPTS = 110, TEMPORARIES_MAX = 4096 };

// Returns what the user can do about a failed write.
static const char *find_hint(int code)
{
	if (code == ENOSPC || code == EDQUOT)
		return "the disk is full: free some space and start again";
	if (code == EFBIG)
		return "raise the limit on file size: `ulimit -f unlimited`";
	if (code == EROFS)
		return "claudebox stores its state there: make it writable";
	return "check the owner and mode of that path and of its directory";
}

bool write_fail(struct error *error, const char *operation, const char *path)
{
	int code = errno;

	error_set(error, "cannot %s '%s': %s", operation, quote_display(error->arena, path, 0),
		  strerror(code));
	error_hint(error, "%s", find_hint(code));
	errno = code;
	return false;
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

// Adds the permissions of the owner to an open directory, and removes access control lists: a
// default one that a box has set would decide the mode of every file that is created there.
static void repair_permissions(int fd)
{
	struct stat status;

	if (flistxattr(fd, NULL, 0) != 0) {
		fremovexattr(fd, "system.posix_acl_default");
		fremovexattr(fd, "system.posix_acl_access");
	}
	if (fstat(fd, &status) == 0 && (status.st_mode & 0700) != 0700)
		fchmod(fd, (status.st_mode & 07777) | 0700);
}

int open_directory(int parent, const char *name, const char *shown, struct error *error)
{
	static const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(parent, name, flags);
	bool missing = fd < 0 && errno == ENOENT;
	bool created = missing && mkdirat(parent, name, 0700) == 0;

	if (missing && !created && errno == EEXIST) // another launch has just created it
		fd = openat(parent, name, flags);
	else if (created || (fd < 0 && !missing && errno == EACCES))
		fd = open_with_mode_0700(parent, name);
	if (fd < 0)
		write_fail(error, "open or create directory", shown);
	else
		repair_permissions(fd);
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

// Returns a name for an entry that is moved aside. A box can take all numbers, so random names
// follow them.
static const char *aside_name(struct arena *arena, const char *name, int attempt)
{
	unsigned long long random = 0;

	if (attempt < ASIDE_NUMBERS)
		return arena_printf(arena, "%s.own%.0d", name, attempt);
	if (getrandom(&random, sizeof(random), 0) < 0)
		random = (unsigned long long)attempt;
	return arena_printf(arena, "%s.own-%016llx", name, random);
}

bool move_aside(int directory, const char *name, struct error *error)
{
	struct stat status;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || write_fail(error, "examine", name);
	if (S_ISLNK(status.st_mode))
		return unlinkat(directory, name, 0) == 0 || errno == ENOENT ||
		       write_fail(error, "remove", name);
	for (int i = 0; i < ASIDE_ATTEMPTS; i++) {
		const char *aside = aside_name(error->arena, name, i);

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

const char *write_temporary_name(struct arena *arena, const char *name)
{
	return arena_printf(arena, TEMPORARY_PREFIX "%d-%s", getpid(), name);
}

int create_file(int directory, const char *name)
{
	CLEANUP_FD int fd =
		openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd >= 0 && fchmod(fd, 0600) == 0 ? take_fd(&fd) : -1;
}

bool replace_file_bytes(int directory, const char *name, const void *bytes, size_t count,
			struct error *error)
{
	const char *temporary = write_temporary_name(error->arena, name);
	CLEANUP_FD int fd = -1;

	if (is_directory(directory, name) && !move_aside(directory, name, error))
		return false;
	if (is_directory(directory, temporary) && !move_aside(directory, temporary, error))
		return false;
	unlinkat(directory, temporary, 0);
	fd = create_file(directory, temporary);
	if (fd < 0)
		return write_fail(error, "write", name);
	flock(fd, LOCK_EX | LOCK_NB); // shows remove_temporaries() that the file is in use
	if (!write_all(fd, bytes, count) || fsync(fd) < 0 ||
	    renameat(directory, temporary, directory, name) < 0) {
		int code = errno;

		unlinkat(directory, temporary, 0);
		errno = code;
		return write_fail(error, "write", name);
	}
	return true;
}

bool replace_file(int directory, const char *name, const char *content, struct error *error)
{
	return replace_file_bytes(directory, name, content, strlen(content), error);
}

// Returns whether a name is that of a temporary file of a process that has ended.
static bool is_temporary_of_ended_process(const char *name)
{
	const char *number = str_after(name, TEMPORARY_PREFIX);
	char *end = NULL;
	long pid = number && *number >= '1' && *number <= '9' ? strtol(number, &end, 10) : 0;

	if (pid <= 0 || pid > INT_MAX || end[0] != '-' || !end[1])
		return false;
	return pid == getpid() || (kill((pid_t)pid, 0) < 0 && errno == ESRCH);
}

// Returns whether a file is claudebox's to remove: a regular file of the user that no process has
// locked. Its writer can be in another PID namespace, where its process id says nothing.
static bool is_abandoned(int directory, const char *name)
{
	CLEANUP_FD int fd =
		openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	struct stat status;

	return fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       status.st_uid == getuid() && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

void remove_temporaries(int directory)
{
	CLEANUP_DIR DIR *stream = open_directory_stream(directory, ".");
	const struct dirent *entry;

	for (int i = 0; stream && i < TEMPORARIES_MAX && (entry = readdir(stream)); i++)
		if (is_temporary_of_ended_process(entry->d_name) &&
		    is_abandoned(directory, entry->d_name))
			unlinkat(directory, entry->d_name, 0);
}
