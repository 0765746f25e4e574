// SPDX-License-Identifier: MIT
// Starts bwrap from the plan.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "box/box.h"
#include "plan/plan.h"

#include <stdbool.h>

// Starts bwrap, in a cgroup if the plan has one. The caller has set box->terminal, and blocked
// SIGCHLD. Returns false with an error on failure.
bool box_launch(struct box *box, const struct plan *plan, struct arena *arena, struct error *error);
