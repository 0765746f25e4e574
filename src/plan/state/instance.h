// SPDX-License-Identifier: MIT
// Plans the instance of the project.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Fills plan->state, and adds the mounts of the Claude state, the credentials and the user's files.
void plan_build_state(struct plan *plan, struct arena *arena, const struct facts *facts);
