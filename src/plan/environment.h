// SPDX-License-Identifier: MIT
// The variables of the box: made ones, then what the allowlist lets through, then what was asked for.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

bool plan_build_environment(struct plan *plan, struct arena *arena, const struct config *config,
			    const struct facts *facts, struct error *error);
