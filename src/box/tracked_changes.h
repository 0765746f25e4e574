// SPDX-License-Identifier: MIT
// Tells the user which places that git tracks have changed in a session.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

#include <time.h>

// Prints a line for each changed place that the index of its repository does not have as it is, one
// for all others, and one for each repository or worktree that was created after `start`. The host
// executes those in `executed` without asking.
void tracked_changes_tell(const struct plan *plan, struct arena *arena,
			  const struct timespec *start, const strings *executed,
			  const strings *trusted);
