// SPDX-License-Identifier: MIT
// The plan as JSON, for scripts. Secrets are masked.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Returns the plan as JSON.
const char *render_json(const struct plan *plan, struct arena *arena);
