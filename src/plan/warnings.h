// SPDX-License-Identifier: MIT
// What the user should know before saying yes (SEC-01).
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

void plan_build_warnings(struct plan *plan, struct arena *arena, const struct facts *facts);

void plan_build_first_start_notes(struct plan *plan, struct arena *arena,
				  const struct facts *facts);
