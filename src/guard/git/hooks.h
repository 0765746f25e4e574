// SPDX-License-Identifier: MIT
// The copy of a directory of generated hooks, which a box may write.
#pragma once

#include "base/arena.h"

// Copies a directory to a new one in `copies`. Returns a digest of its content, NULL with errno on
// failure.
const char *hooks_copy(struct arena *arena, const char *path, int copies, const char *name);
// Moves a copy that the box has changed to quarantine, after the box has ended. `before` is its
// digest at the start. Returns a sentence for the user, NULL: nothing would be lost.
const char *hooks_finish(struct arena *arena, const char *project, const char *path, int copies,
			 const char *name, const char *before, int quarantine);
