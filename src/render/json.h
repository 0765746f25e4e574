// SPDX-License-Identifier: MIT
// The plan as JSON, for scripts. Secrets are masked.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

#include <jansson.h>

// Returns the list of what the user has and the box lacks; the caller owns it.
json_t *json_left_out(struct arena *arena, const struct plan *plan);
// Returns the plan as JSON.
const char *render_json(const struct plan *plan, struct arena *arena);
