// SPDX-License-Identifier: MIT
// Moves an entry of the project to quarantine.
#include "guard/move_out.h"

#include "base/arena.h"
#include "base/text.h"
#include "guard/emptied.h"
#include "guard/permissions.h"
#include "guard/quarantine/quarantine.h"
#include "guard/watcher.h"
#include "sys/cleanup.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LOOP_TIMES = 5, LOOP_MS = 1000 };

// Counts a move. Returns whether the place was created again too often.
static bool count_move(struct watcher *watcher, const char *path)
{
	int64_t now = clock_monotonic_ms();
	struct recent *slot = &watcher->recents[0];

	for (size_t i = 0; i < RECENT_COUNT; i++) {
		struct recent *recent = &watcher->recents[i];

		if (recent->path && str_equal(recent->path, path)) {
			recent->times = now - recent->moved_ms <= LOOP_MS ? recent->times + 1 : 1;
			recent->moved_ms = now;
			return recent->times > LOOP_TIMES;
		}
		if (!recent->path || (slot->path && recent->moved_ms < slot->moved_ms))
			slot = recent;
	}
	free(slot->path);
	*slot = (struct recent){ .path = strdup(path), .moved_ms = now, .times = 1 };
	return false;
}

// Adds the permissions that a rename needs: to the directory, and to an entry that is one.
static bool make_movable(struct watcher *watcher, int directory, const char *name)
{
	bool changed = permissions_lend(watcher, directory, S_IRWXU);
	CLEANUP_FD int entry =
		openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return (entry >= 0 && permissions_lend(watcher, entry, S_IRWXU)) || changed;
}

bool move_out(struct watcher *watcher, int directory, const char *path, const char *name,
	      const char *why, bool copied)
{
	struct arena arena = { 0 };
	const char *id =
		quarantine_move(watcher->quarantine, &arena, directory, name, path, why, copied);

	if (!id && errno == EACCES && make_movable(watcher, directory, name))
		id = quarantine_move(watcher->quarantine, &arena, directory, name, path, why,
				     copied);
	if (id) {
		watcher_tell(watcher, GUARD_MOVED, path, id);
		emptied_note(watcher, path);
		if (count_move(watcher, path))
			watcher_tell(watcher, GUARD_LOOP, path, NULL);
	} else if (errno != ENOENT) {
		watcher_tell(watcher, GUARD_FAILED,
			     arena_printf(&arena, "cannot move '%s': %s", path, strerror(errno)),
			     NULL);
	}
	arena_free(&arena);
	return id != NULL;
}
