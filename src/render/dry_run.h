// SPDX-License-Identifier: MIT
// The plan as a script for sh (UX-04): paste it and get the same box, without claudebox.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// A script, and so the same for every reader.
const char *render_dry_run(const struct plan *plan, struct arena *arena);
