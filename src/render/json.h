// SPDX-License-Identifier: MIT
// The plan as JSON, for scripts; secrets are masked here too.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

const char *render_json(const struct plan *plan, struct arena *arena);
