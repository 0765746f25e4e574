// SPDX-License-Identifier: MIT
// Whether git tracks a place.
#pragma once

#include "base/arena.h"
#include "guard/watcher.h"

enum tracking { TRACKED, UNTRACKED, UNDECIDED };

// Returns whether git tracks the entry of a directory with this path. UNDECIDED: git is writing its
// index, which may have the entry.
enum tracking tracking_of(struct watcher *watcher, struct arena *arena, const char *directory,
			  const char *path);
// Notes a place that git tracks: it is examined again at the end (examine_tracked()).
void tracking_note(struct watcher *watcher, const char *directory, const char *name);
