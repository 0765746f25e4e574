// SPDX-License-Identifier: MIT
// The gates: what cannot be a project, which state cannot be trusted, and what no plan may contain.
#pragma once

#include "base/error.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

bool plan_check(const struct plan *plan, const struct facts *facts, struct error *error);
// The parts of plan_build, one file each.
bool plan_refuse_project(const struct facts *facts, struct error *error);
bool plan_refuse_state(const struct facts *facts, struct error *error);
// Does this host path hold the Nix daemon's socket, or lie beside it, although the box must not have it?
bool plan_brings_daemon(const struct plan *plan, const struct facts *facts, const char *path);
