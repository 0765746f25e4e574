// SPDX-License-Identifier: MIT
// Writes a file of git's configuration as git does.
#include "guard/git/config_file.h"

#include "base/arena.h"
#include "base/path.h"
#include "sys/cleanup.h"
#include "sys/files.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Of a file that replaces another one.
#define TEMPORARY ".claudebox-%d"

enum {
	LOCK_TRIES = 100, // of 10 ms
	LOCK_NAME_SIZE = 64,
	TEXT_LIMIT = 1024 * 1024,
	LOCK_MODE = 0200, // of a lock that is not complete
	ABANDONED_S = 1,
};

// Creates the lock file. Git creates it in the same way, so only one writer succeeds.
static int create_lock(int directory, const char *name, int tries)
{
	static const struct timespec pause = { .tv_nsec = 10000000 };
	int fd = -1;

	for (int i = 0; i < tries; i++) {
		fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    LOCK_MODE);
		if (fd >= 0 || errno != EEXIST)
			break;
		nanosleep(&pause, NULL);
	}
	return fd;
}

// Removes the lock of a claudebox that was killed: it has a mode that git does not use, and it is
// older than the time for which one is held.
static bool remove_abandoned(int directory, const char *name)
{
	struct timespec now;
	struct stat status;

	clock_gettime(CLOCK_REALTIME, &now);
	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	       (status.st_mode & 07777) == LOCK_MODE &&
	       now.tv_sec - status.st_ctim.tv_sec >= ABANDONED_S &&
	       unlinkat(directory, name, 0) == 0;
}

static bool complete(int fd, const char *text, mode_t mode)
{
	return write_all(fd, text, strlen(text)) && fchmod(fd, mode & 0777) == 0;
}

int git_config_lock(int directory, const char *name)
{
	char lock[LOCK_NAME_SIZE];
	int fd;

	snprintf(lock, sizeof(lock), "%s.lock", name);
	fd = create_lock(directory, lock, LOCK_TRIES);
	return fd < 0 && errno == EEXIST && remove_abandoned(directory, lock)
		       ? create_lock(directory, lock, 1)
		       : fd;
}

bool git_config_write(int directory, const char *name, int fd, const char *text, mode_t mode)
{
	char lock[LOCK_NAME_SIZE];
	int problem;

	snprintf(lock, sizeof(lock), "%s.lock", name);
	if (text && complete(fd, text, mode) && renameat(directory, lock, directory, name) == 0)
		return true;
	problem = errno;
	unlinkat(directory, lock, 0);
	errno = problem;
	return !text;
}

// Writes a file with a temporary name beside another one. Returns false with errno and leaves
// nothing.
static bool write_beside(int directory, const char *temporary, const char *text, mode_t mode)
{
	CLEANUP_FD int fd = -1;
	int problem;

	unlinkat(directory, temporary, 0); // of an interrupted call
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return false;
	if (complete(fd, text, mode))
		return true;
	problem = errno;
	unlinkat(directory, temporary, 0);
	errno = problem;
	return false;
}

const char *file_exchange(struct arena *arena, int directory, const char *name, const char *text,
			  mode_t mode)
{
	const char *temporary = arena_printf(arena, TEMPORARY, getpid());
	int problem;

	if (!write_beside(directory, temporary, text, mode))
		return NULL;
	if (renameat2(directory, temporary, directory, name, RENAME_EXCHANGE) == 0)
		return temporary;
	problem = errno;
	unlinkat(directory, temporary, 0);
	errno = problem;
	return NULL;
}

bool file_renew(int directory, const char *name, const char *text, mode_t mode, bool replace)
{
	char temporary[LOCK_NAME_SIZE];
	int problem;

	snprintf(temporary, sizeof(temporary), TEMPORARY, getpid());
	if (!write_beside(directory, temporary, text, mode))
		return false;
	if (renameat2(directory, temporary, directory, name, replace ? 0 : RENAME_NOREPLACE) == 0)
		return true;
	problem = errno;
	unlinkat(directory, temporary, 0);
	errno = problem;
	return false;
}

void file_detach(struct arena *arena, const char *path)
{
	CLEANUP_FD int directory =
		file_open(AT_FDCWD, path_parent(arena, path), O_PATH | O_DIRECTORY);
	const char *name = path_name(path);
	const char *text = directory < 0 ? NULL : file_read_at(arena, directory, name, TEXT_LIMIT);
	struct stat status;

	if (text && fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		file_renew(directory, name, text, status.st_mode, true);
}
