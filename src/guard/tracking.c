// SPDX-License-Identifier: MIT
// Whether git tracks a place: git must be able to replace tracked files.
#include "guard/tracking.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/git/directory.h"
#include "guard/watcher.h"
#include "plan/plan.h"
#include "probe/git/tracked.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
	MAX_TRACKED = 4096,
	INDEX_LOCK_S = 60, // a checkout of a large repository takes less
};

static bool was_tracked(const struct watcher *watcher, const char *path)
{
	const char *below = str_after(path, watcher->plan->project);

	vec_each(tracked, &watcher->plan->guard.tracked) {
		if (below && *below == '/' && str_equal(below + 1, *tracked))
			return true;
	}
	return false;
}

// Returns whether git writes the index. A box can create the lock too, so the wait ends.
static bool is_locked(const struct watcher *watcher, const char *lock)
{
	struct stat status;

	return !watcher->box_ended && lstat(lock, &status) == 0 &&
	       status.st_ctim.tv_sec + INDEX_LOCK_S > time(NULL);
}

enum tracking tracking_of(struct watcher *watcher, struct arena *arena, const char *directory,
			  const char *path)
{
	const char *top;
	const char *git = git_directory_of(watcher, arena, directory, &top);
	struct tracked tracked;
	const char *relative;
	struct stat status;
	bool locked;
	bool found;

	if (!git || !path_within(path, top) || str_equal(path, top))
		return UNTRACKED;
	// Before the index: git renames the lock to it when it has written all files.
	locked = is_locked(watcher, path_join(arena, git, "index.lock"));
	tracked = tracked_open(git);
	relative = path + strlen(top) + 1;
	// A box can damage the index. Then only what was tracked at the start counts.
	if (!tracked_find(&tracked, &relative, 1, &found))
		found = was_tracked(watcher, path);
	// A link is not the directory with tracked files that was at its place.
	if (found && lstat(path, &status) == 0 && S_ISLNK(status.st_mode))
		found = tracked_has(&tracked, relative);
	tracked_close(&tracked);
	return found ? TRACKED : locked ? UNDECIDED : UNTRACKED;
}

void tracking_note(struct watcher *watcher, const char *directory, const char *name)
{
	struct tracked_place *place = watcher->tracked;

	while (place && !(str_equal(place->directory, directory) && str_equal(place->name, name)))
		place = place->next;
	if (place || watcher->tracked_count >= MAX_TRACKED)
		return;
	place = calloc(1, sizeof(*place));
	if (place)
		*place = (struct tracked_place){ .directory = strdup(directory),
						 .name = strdup(name),
						 .next = watcher->tracked };
	if (!place || !place->directory || !place->name) {
		free(place);
		return;
	}
	watcher->tracked = place;
	watcher->tracked_count++;
}
