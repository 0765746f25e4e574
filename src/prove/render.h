// SPDX-License-Identifier: MIT
// The report of --prove, as a table and as JSON.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/plan.h"
#include "prove/verdicts.h"

// Return the report as a table, and as JSON.
const char *render_proof(struct arena *arena, const struct plan *plan, const struct proof *proof,
			 struct reader reader);
const char *render_proof_json(struct arena *arena, const struct plan *plan,
			      const struct proof *proof);
