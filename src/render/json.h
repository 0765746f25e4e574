// SPDX-License-Identifier: MIT
// The plan as JSON, for scripts. Secrets are masked.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

const char *render_json(const struct plan *plan, struct arena *arena);
