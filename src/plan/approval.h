// SPDX-License-Identifier: MIT
// What a box was when the user last said yes to it here, and what is different now.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/plan.h"

// One line for each thing that the box gets; no value of a variable is in it.
strings approval_lines(struct arena *arena, const struct plan *plan);
// The lines as a text to keep.
const char *approval_render(struct arena *arena, const struct plan *plan);
// Fills plan->changes with "+ …" and "- …", and decides whether to ask. `before` NULL: nothing was approved yet.
void approval_compare(struct plan *plan, struct arena *arena, const struct config *config,
		      const char *before);
