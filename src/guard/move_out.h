// SPDX-License-Identifier: MIT
// Moves an entry of the project to quarantine.
#pragma once

#include "guard/watcher.h"

#include <stdbool.h>

// Moves directory/name, which is or was at this path, and reports it. Counts how often the same
// place was created again. `copied`: the place keeps a harmless version.
bool move_out(struct watcher *watcher, int directory, const char *path, const char *name,
	      const char *why, bool copied);
