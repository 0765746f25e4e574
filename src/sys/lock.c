// SPDX-License-Identifier: MIT
// Locks by flock(2) that every box of an instance or of a shared home holds.
#include "sys/lock.h"

#include "sys/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

int lock_open(int directory, const char *name)
{
	CLEANUP_FD int lock = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (lock >= 0 || errno != ENOENT)
		return take_fd(&lock);
	lock = openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		      0600);
	// The umask may have removed the mode bits that the next process needs.
	return lock >= 0 && fchmod(lock, 0600) == 0 ? take_fd(&lock) : -1;
}

int lock_exclusively(int directory, const char *name)
{
	CLEANUP_FD int lock = lock_open(directory, name);

	return lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 ? take_fd(&lock) : -1;
}

bool lock_is_held(int directory, const char *name)
{
	CLEANUP_FD int lock = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}
