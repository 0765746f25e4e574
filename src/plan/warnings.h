// SPDX-License-Identifier: MIT
// Warnings and notes of the audit.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Adds the warnings to the plan.
void plan_build_warnings(struct plan *plan, struct arena *arena, const struct facts *facts);
// Adds the notes of a first start, also on a missing Claude login.
void plan_build_first_start_notes(struct plan *plan, struct arena *arena,
				  const struct facts *facts);
