// SPDX-License-Identifier: MIT
// Permissions of directories that a box has taken away, which the guard adds for a short time.
#pragma once

#include "guard/watcher.h"

#include <stdbool.h>
#include <sys/stat.h>

// Adds permissions of the owner to a directory, until permissions_return(). Returns false with
// errno if it has them already, belongs to another user, or cannot be changed.
bool permissions_lend(struct watcher *watcher, int fd, mode_t needed);
// Restores the modes of all these directories.
void permissions_return(struct watcher *watcher);
