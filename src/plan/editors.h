// SPDX-License-Identifier: MIT
// Removes EDITOR and VISUAL from the box if it lacks their program.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Adds the programs that the probe has to look for.
void editors_add_words(struct arena *arena, const struct facts *facts, strings *words);
// Removes the variables whose program the host has and the box lacks, and names them. The mounts
// and the variables of the plan must be complete.
void plan_drop_missing_editors(struct plan *plan, struct arena *arena, const struct facts *facts);
