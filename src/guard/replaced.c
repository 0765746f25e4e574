// SPDX-License-Identifier: MIT
// Protected places that a program of the host replaced while a box runs.
//
// Theory of operation: the replacement removes the mount on the place in the box, and for a short
// time the box can write to the new file. While the mount is there, only the host can cause an
// event at the place, so the first event is the host's. Each further event that the kernel had
// queued when the mount was there again may be the box's. So may a process that has the file open
// for writing, and a second name of it. Such a place is lost: its content is treated as that of
// the box, as is one that the host has removed. A configuration of git that is lost is judged by
// its content, and a writer of it gets an orphan.
#include "guard/replaced.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/config.h"
#include "guard/git/config_file.h"
#include "guard/known_places.h"
#include "guard/watcher.h"
#include "guard/writers.h"
#include "plan/guard/facts.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

static struct replaced *find(const struct watcher *watcher, const char *path)
{
	struct replaced *replaced = watcher->replaced;

	while (replaced && strcmp(replaced->path, path) != 0)
		replaced = replaced->next;
	return replaced;
}

static struct replaced *find_or_add(struct watcher *watcher, const char *path)
{
	struct replaced *replaced = find(watcher, path);

	if (replaced)
		return replaced;
	replaced = calloc(1, sizeof(*replaced));
	if (replaced)
		replaced->path = strdup(path);
	if (!replaced || !replaced->path) {
		free(replaced);
		return NULL;
	}
	replaced->next = watcher->replaced;
	watcher->replaced = replaced;
	return replaced;
}

bool replaced_is_lost(const struct watcher *watcher, const char *path)
{
	const struct replaced *replaced = find(watcher, path);

	return replaced && replaced->lost;
}

static void lose(struct watcher *watcher, const struct guard_place *place)
{
	struct replaced *replaced = place->mount != GUARD_PIN ? find_or_add(watcher, place->path)
							      : NULL;

	if (replaced)
		replaced->lost = true;
}

void replaced_note(struct watcher *watcher, const char *path, uint32_t mask)
{
	const struct guard_place *place = known_find(watcher, path);
	struct replaced *replaced = place ? find(watcher, path) : NULL;

	if (!place)
		return;
	if (replaced && replaced->text && !replaced->lost && watcher->event_at >= replaced->until) {
		git_config_accept(watcher, path, replaced->text);
		free(replaced->text);
		replaced->text = NULL;
	}
	if ((mask & (IN_DELETE | IN_MOVED_FROM)) ||
	    (replaced && watcher->event_at < replaced->until &&
	     (mask & (IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_CLOSE_WRITE))))
		lose(watcher, place);
}

void replaced_keep_text(struct watcher *watcher, const char *path, const char *text)
{
	struct replaced *replaced = find(watcher, path);

	if (!replaced || replaced->lost)
		return;
	free(replaced->text);
	replaced->text = strdup(text);
}

void replaced_protected(struct watcher *watcher, const struct guard_place *place)
{
	struct replaced *replaced = find_or_add(watcher, place->path);
	CLEANUP_FD int fd = file_open(AT_FDCWD, place->path, O_RDONLY | O_NONBLOCK);
	struct arena arena = { 0 };
	struct stat status;
	int queued = 0;

	if (replaced && ioctl(watcher->watches.inotify, FIONREAD, &queued) == 0)
		replaced->until = watcher->read_bytes + (uint64_t)queued;
	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (writers_has(fd) || (status.st_nlink > 1 && !place->other_names))) {
		lose(watcher, place);
		if (place->mount == GUARD_COPY)
			file_detach(&arena, place->path);
	}
	arena_free(&arena);
}
