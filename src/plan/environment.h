// SPDX-License-Identifier: MIT
// The variables of the box: generated, from the allowlist, and requested.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Adds the variables to the plan. Returns false with an error if a requested one is not allowed.
bool plan_build_environment(struct plan *plan, struct arena *arena, const struct facts *facts,
			    struct error *error);

// Names the requested variables that the box lacks. Programs of the user's configuration, such as
// MCP servers, may have set some, so these come first.
void plan_leave_out_unset(struct plan *plan, struct arena *arena, const struct facts *facts);
// Returns the option that passes these variables, besides those that CLAUDEBOX_EXTRA_ENV names
// already: the user copies it in the place of the old value.
const char *plan_pass_option(struct arena *arena, const struct config *config,
			     const strings *names);
