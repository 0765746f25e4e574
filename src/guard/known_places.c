// SPDX-License-Identifier: MIT
// The places that are protected in the box: those of the plan, and those that the guard has found
// further down in the project.
#include "guard/known_places.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/protect.h"
#include "guard/replaced.h"
#include "guard/watcher.h"
#include "guard/watches.h"
#include "plan/plan.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int compare_places(const void *a, const void *b)
{
	const struct planned_place *first = a, *second = b;

	return strcmp(first->place->path, second->place->path);
}

void known_list_planned(struct watcher *watcher, struct arena *arena)
{
	vec_each(place, &watcher->plan->guard.places)
		vec_push(arena, &watcher->planned, (struct planned_place){ place });
	if (watcher->planned.count)
		qsort(watcher->planned.items, watcher->planned.count,
		      sizeof(watcher->planned.items[0]), compare_places);
}

// Returns the place of the plan at a path, NULL: none. Each submodule has four.
static const struct guard_place *find_planned(const struct watcher *watcher, const char *path)
{
	const struct guard_place wanted = { .path = path };
	const struct planned_place key = { &wanted };
	const struct planned_place *found = watcher->planned.count
						    ? bsearch(&key, watcher->planned.items,
							      watcher->planned.count, sizeof(key),
							      compare_places)
						    : NULL;

	return found ? found->place : NULL;
}

const struct guard_place *known_find(const struct watcher *watcher, const char *path)
{
	const struct guard_place *planned = find_planned(watcher, path);

	if (planned)
		return planned;
	for (const struct deep_place *deep = watcher->deep; deep; deep = deep->next)
		if (str_equal(deep->place.path, path))
			return &deep->place;
	return NULL;
}

// Returns whether a place was mounted before the guard knew process 1.
static bool is_planned(const struct watcher *watcher, const struct guard_place *place)
{
	const struct guard_place *first = watcher->plan->guard.places.items;

	return first && place >= first && place < first + watcher->plan->guard.places.count;
}

// Notes which file is at a place further down now.
static void note_protected(const struct watcher *watcher, const struct guard_place *place,
			   const struct stat *status)
{
	for (struct deep_place *deep = watcher->deep; deep; deep = deep->next)
		if (&deep->place == place) {
			deep->place.id = file_identity(status);
			deep->ctime = status->st_ctim;
		}
}

void known_mount(struct watcher *watcher, const struct guard_place *known, const char *path,
		 const struct stat *status, const struct guard_row *row)
{
	struct guard_place place = known ? *known
					 : (struct guard_place){ .mount = GUARD_READ_ONLY };
	const char *copy = NULL;
	bool mounted;

	if (!watcher->init || watcher->box_ended)
		return;
	// The search at the start finds what was mounted just now.
	if (known && !watcher->told_ready && known->id.device == status->st_dev &&
	    known->id.inode == status->st_ino && is_planned(watcher, known))
		return;
	place.path = path;
	place.id = file_identity(status);
	place.row = row;
	if (place.mount == GUARD_COPY)
		vec_each(link, &watcher->plan->guard.copies) {
			if (str_equal(link->config, path))
				copy = link->link;
		}
	if (!protect_again(watcher->init, &place, copy, &mounted)) {
		// ESTALE: it was replaced once more, which causes another event
		if (errno != ESRCH && errno != ENOENT && errno != ESTALE)
			watcher_tell(watcher, GUARD_FAILED, path, NULL);
	} else if (mounted && watcher->told_ready) {
		note_protected(watcher, known, status);
		replaced_protected(watcher, &place);
	}
}

// Watches the directory around a place for all events at the place.
static void watch_places(struct watcher *watcher, const char *path)
{
	struct arena arena = { 0 };
	const char *parent = path_parent(&arena, path);
	CLEANUP_FD int fd = file_open(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	bool added;

	if (fd >= 0)
		watches_add(&watcher->watches, fd, parent, WATCH_PLACES, &added);
	arena_free(&arena);
}

void known_add(struct watcher *watcher, struct file_id parent, const char *path,
	       const struct stat *status, const struct guard_row *row)
{
	struct deep_place *deep = calloc(1, sizeof(*deep));
	char *copy = strdup(path);

	if (!deep || !copy) {
		free(deep);
		free(copy);
		return;
	}
	deep->place = (struct guard_place){
		.path = copy, .id = file_identity(status), .mount = GUARD_READ_ONLY, .row = row
	};
	deep->parent = parent;
	deep->ctime = status->st_ctim;
	deep->early = !watcher->told_ready;
	deep->link = S_ISLNK(status->st_mode);
	deep->next = watcher->deep;
	watcher->deep = deep;
	watch_places(watcher, path);
	if (!deep->link)
		known_mount(watcher, &deep->place, copy, status, row);
}

void known_protect_old(struct watcher *watcher, int directory, const char *name, const char *path,
		       const struct guard_row *row)
{
	struct stat status, parent;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    fstat(directory, &parent) == 0 && !known_find(watcher, path) &&
	    !watcher_is_unprotected(watcher, path))
		known_add(watcher, file_identity(&parent), path, &status, row);
}

static bool is_same_directory(const char *path, const struct file_id *id)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
	       status.st_dev == id->device && status.st_ino == id->inode;
}

bool known_covers(const struct watcher *watcher, struct arena *arena, const char *path)
{
	if (watcher->plan->guard.recovering)
		return false;
	for (const char *above = path_parent(arena, path); strlen(above) > 1;
	     above = path_parent(arena, above)) {
		const struct guard_place *place = known_find(watcher, above);
		const struct deep_place *deep = watcher->deep;

		while (place && deep && place != &deep->place)
			deep = deep->next;
		if (place && place->mount != GUARD_PIN && (!deep || deep->early) &&
		    !replaced_is_lost(watcher, above) && is_same_directory(above, &place->id))
			return true;
	}
	return false;
}

void known_protect_all(struct watcher *watcher)
{
	for (const struct deep_place *deep = watcher->deep; deep; deep = deep->next) {
		struct stat status;

		if (!deep->link && lstat(deep->place.path, &status) == 0)
			known_mount(watcher, &deep->place, deep->place.path, &status,
				    deep->place.row);
	}
}

const struct guard_place *known_find_protected(const struct watcher *watcher, const char *path,
					       struct file_id parent, bool is_link)
{
	const struct guard_place *place =
		replaced_is_lost(watcher, path) ? NULL : known_find(watcher, path);

	// The directories around a planned place are mounts.
	for (const struct deep_place *deep = watcher->deep; place && deep; deep = deep->next)
		if (place == &deep->place &&
		    (deep->parent.device != parent.device || deep->parent.inode != parent.inode ||
		     (deep->link && !is_link)))
			return NULL;
	return place;
}

bool known_is_renamed(struct watcher *watcher, const char *path, struct file_id parent,
		      const struct stat *status, const struct guard_row *row)
{
	for (struct deep_place *deep = watcher->deep; deep; deep = deep->next) {
		char *copy;

		if (deep->link || deep->place.row != row ||
		    deep->place.id.device != status->st_dev ||
		    deep->place.id.inode != status->st_ino ||
		    status->st_ctim.tv_sec != deep->ctime.tv_sec ||
		    status->st_ctim.tv_nsec != deep->ctime.tv_nsec)
			continue;
		copy = strdup(path);
		if (!copy)
			return false;
		deep->place.path = copy; // the old one is in use elsewhere
		deep->parent = parent;
		return true;
	}
	return false;
}
