// SPDX-License-Identifier: MIT
// Mounts that the user requests: allowed sources and destinations.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Adds the requested mounts to the plan. Returns false with an error if one is not allowed.
bool plan_build_mounts(struct plan *plan, struct arena *arena, const struct facts *facts,
		       struct error *error);
// Returns why no mount may have this host path as its source, and the next step; NULL: it may.
const char *plan_source_problem(const struct plan *plan, struct arena *arena,
				const struct facts *facts, const char *real, const char **ret_hint);
// Returns the absolute form of a path that the user wrote: "~/x" is in the home directory, "x" in
// the project.
const char *plan_written_path(struct arena *arena, const struct facts *facts, const char *written);
