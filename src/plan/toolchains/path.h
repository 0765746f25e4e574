// SPDX-License-Identifier: MIT
// PATH of the box.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Returns PATH: packages, requested directories, the host's PATH in its order as far as the box has
// the directories, and the system's directories that the host's PATH lacks. Adds what the box lacks
// to plan->left_out.
const char *plan_build_path(struct plan *plan, struct arena *arena, const struct facts *facts);
