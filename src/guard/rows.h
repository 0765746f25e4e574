// SPDX-License-Identifier: MIT
// Which row of the tables stands for a path.
#pragma once

#include "guard/watcher.h"
#include "plan/guard/places.h"

#include <stdbool.h>

// Returns whether the path has a component ".git".
bool path_lies_in_git(const char *path);
// Returns whether git finds a repository at this directory: relative paths of settings count in it.
bool rows_is_top(const char *directory);
// Returns the row of a place, NULL: the path is none.
const struct guard_row *rows_find_exact(const struct watcher *watcher, const char *path);
// Returns the row of a place, or of one that a link at this path can lead to.
const struct guard_row *rows_find(const struct watcher *watcher, const char *path);
