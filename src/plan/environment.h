// SPDX-License-Identifier: MIT
// The variables of the box: generated, from the allowlist, and requested.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Adds the variables to the plan. Returns false with an error if a requested one is not allowed.
bool plan_build_environment(struct plan *plan, struct arena *arena, const struct facts *facts,
			    struct error *error);
