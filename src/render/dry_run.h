// SPDX-License-Identifier: MIT
// The plan as a script for sh, which starts the same box without claudebox.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Returns the script. It is the same for every screen.
const char *render_dry_run(const struct plan *plan, struct arena *arena);
