// SPDX-License-Identifier: MIT
// What runs in the box: claude, a shell, or the command of --exec.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

bool plan_build_command(struct plan *plan, struct arena *arena, const struct config *config,
			const struct facts *facts, struct error *error);
