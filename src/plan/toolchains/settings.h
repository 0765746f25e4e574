// SPDX-License-Identifier: MIT
// Variables and settings of toolchains.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Adds the variables of the toolchains that come along.
void plan_add_toolchain_variables(struct plan *plan, struct arena *arena,
				  const struct facts *facts);
