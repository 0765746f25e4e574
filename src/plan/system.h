// SPDX-License-Identifier: MIT
// The part of the box that is the same for every project: an empty root, the system read-only, a few made files.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

void plan_build_system(struct plan *plan, struct arena *arena, const struct config *config,
		       const struct facts *facts);
// Why no box of this user may reach the Nix daemon, whatever was asked for, and the cure; NULL: it may.
const char *plan_nix_problem(const struct facts *facts, const char **ret_cure);
// Does a box of this configuration have the Nix daemon, if it may?
bool plan_wants_daemon(const struct config *config);
