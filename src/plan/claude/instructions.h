// SPDX-License-Identifier: MIT
// SANDBOX.md (AWARE-01): tells Claude where it is, from the very plan that is run.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

const char *plan_render_instructions(const struct plan *plan, struct arena *arena,
				     const struct facts *facts);
