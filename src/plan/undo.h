// SPDX-License-Identifier: MIT
// The snapshots of the plan, which --diff and --undo use.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Adds the snapshots to the plan.
void plan_build_undo(struct plan *plan, struct arena *arena, const struct facts *facts);
// Returns where the snapshots of a project are, without the settings of a configuration.
struct plan_undo plan_undo_of(struct arena *arena, const struct facts *facts);
