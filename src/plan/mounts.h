// SPDX-License-Identifier: MIT
// Mounts that the user asked for by name (EXT-03): what may be a source, and where it may go.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

bool plan_build_mounts(struct plan *plan, struct arena *arena, const struct facts *facts,
		       struct error *error);
