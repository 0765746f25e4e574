// SPDX-License-Identifier: MIT
// Removes mount points from the kept home after the session.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Removes the empty files that were mount points of the box, unless another box uses this home.
// `lock` is the lock that all boxes of the home share. Needs the end of the box.
void home_remove_points(const struct plan *plan, struct arena *arena, int lock);
