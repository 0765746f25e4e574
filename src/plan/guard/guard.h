// SPDX-License-Identifier: MIT
// The protected places of the plan.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Adds the protected places, and the directory with copies of git configurations. Needs the mounts
// of the project. Returns false with an error if an exception is no protected place.
bool plan_build_guard(struct plan *plan, struct arena *arena, const struct facts *facts,
		      struct error *error);
