// SPDX-License-Identifier: MIT
// Approval: the box that the user last confirmed for this project, and the differences to the plan.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Returns the lines of the plan (plan/approved_lines.h) as a text, with the warnings of the plan.
const char *approval_render(struct arena *arena, const struct plan *plan);
// Fills plan->changes with "+ …" and "- …", and decides whether to ask. `before`: the approved
// lines, NULL: none. With "confirm": "changed", a box that is only smaller needs no question.
void approval_compare(struct plan *plan, struct arena *arena, const char *before);
// Marks the warnings that the approval was given with.
void approval_mark_warnings(struct plan *plan, struct arena *arena, const char *before);
