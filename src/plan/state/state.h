// SPDX-License-Identifier: MIT
// The instance: this project's private Claude state, the user's own Claude files read-only, and the sign-in.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

void plan_build_state(struct plan *plan, struct arena *arena, const struct facts *facts);
