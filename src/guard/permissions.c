// SPDX-License-Identifier: MIT
// Permissions of directories that a box has taken away, which the guard adds for a short time.
//
// Theory of operation: a directory without the permission to read cannot be watched or searched,
// and nothing can be moved out of one without the permission to write. But programs of the host
// open the files in it by their paths. The directories belong to the user, so the guard changes
// the mode, keeps the directory open, and restores the mode when all queued directories are
// searched. A watch stays when the mode is restored.
#include "guard/permissions.h"

#include "guard/watcher.h"
#include "sys/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DESCRIPTOR_PATH = 40, MAX_LENT = 200 };

// Changes the mode of a file that is open with O_PATH.
static bool change_mode(int fd, mode_t mode)
{
	char path[DESCRIPTOR_PATH];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, mode & 07777) == 0;
}

static size_t count_lent(const struct watcher *watcher)
{
	size_t count = 0;

	for (const struct lent_mode *lent = watcher->lent; lent; lent = lent->next)
		count++;
	return count;
}

bool permissions_lend(struct watcher *watcher, int fd, mode_t needed)
{
	struct lent_mode *lent;
	struct stat status;

	errno = EACCES;
	if (fstat(fd, &status) < 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
	    (status.st_mode & needed) == needed)
		return false;
	if (count_lent(watcher) >= MAX_LENT) // descriptors are limited
		permissions_return(watcher);
	lent = calloc(1, sizeof(*lent));
	if (!lent)
		return false;
	*lent = (struct lent_mode){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0), .mode = status.st_mode };
	if (lent->fd < 0 || !change_mode(fd, status.st_mode | 0700)) {
		cleanup_close(&lent->fd);
		free(lent);
		return false;
	}
	lent->next = watcher->lent;
	watcher->lent = lent;
	return true;
}

void permissions_return(struct watcher *watcher)
{
	while (watcher->lent) {
		struct lent_mode *lent = watcher->lent;
		struct stat status;

		// The box may have chosen another mode meanwhile.
		if (fstat(lent->fd, &status) == 0 &&
		    (status.st_mode & 07777) == ((lent->mode | 0700) & 07777))
			change_mode(lent->fd, lent->mode);
		watcher->lent = lent->next;
		close(lent->fd);
		free(lent);
	}
}
