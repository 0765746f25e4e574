// SPDX-License-Identifier: MIT
// The places that are protected in the box.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "guard/watcher.h"

#include <stdbool.h>

struct guard_place;
struct guard_row;
struct stat;

// Sorts the places of the plan, so that known_find() is fast.
void known_list_planned(struct watcher *watcher, struct arena *arena);
// Returns the protected place with this path, NULL: none.
const struct guard_place *known_find(const struct watcher *watcher, const char *path);
// Does the same, and returns NULL if the box has put another directory there.
const struct guard_place *known_find_protected(const struct watcher *watcher, const char *path,
					       struct file_id parent, bool is_link);
// Returns whether the box cannot have created a file: a directory around it was read-only or a copy
// in the box before the agent started, and still is.
bool known_covers(const struct watcher *watcher, struct arena *arena, const char *path);
// Mounts over a place that existed before the session. `known`: NULL for a new one.
void known_mount(struct watcher *watcher, const struct guard_place *known, const char *path,
		 const struct stat *status, const struct guard_row *row);
// Adds a place that was found by the search, and mounts over it.
void known_add(struct watcher *watcher, struct file_id parent, const char *path,
	       const struct stat *status, const struct guard_row *row);
// Does the same with directory/name, which is older than the session.
void known_protect_old(struct watcher *watcher, int directory, const char *name, const char *path,
		       const struct guard_row *row);
// Mounts over the places that were found before the pid of process 1 was known.
void known_protect_all(struct watcher *watcher);
// Returns whether an entry is a place that was protected elsewhere, in a directory that the box has
// renamed: its mount goes with it. Notes the new path.
bool known_is_renamed(struct watcher *watcher, const char *path, struct file_id parent,
		      const struct stat *status, const struct guard_row *row);
