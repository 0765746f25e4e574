// SPDX-License-Identifier: MIT
// Approval: the box that the user last confirmed for this project, and the differences to the plan.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Returns one line for each setting, variable, package and mount of the box, without values of
// variables.
strings approval_lines(struct arena *arena, const struct plan *plan);
// Returns the lines as a text.
const char *approval_render(struct arena *arena, const struct plan *plan);
// Fills plan->changes with "+ …" and "- …", and decides whether to ask. `before`: the approved
// lines, NULL: none.
void approval_compare(struct plan *plan, struct arena *arena, const char *before);
