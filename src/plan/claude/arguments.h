// SPDX-License-Identifier: MIT
// The arguments of the command in the box.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Adds the user's words to the command, with the paths and settings that claude needs in this box.
void plan_add_arguments(struct plan *plan, struct arena *arena, const struct facts *facts);
