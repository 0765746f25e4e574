// SPDX-License-Identifier: MIT
// Entries that cannot be judged yet.
#pragma once

#include "guard/watcher.h"

// Adds an entry that cannot be judged yet. It is examined again after a moment.
void pending_add(struct watcher *watcher, const char *directory, const char *name);
// Examines all entries again that could not be judged.
void pending_examine(struct watcher *watcher);
