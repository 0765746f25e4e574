// SPDX-License-Identifier: MIT
// Checks of the project, the state directory and the finished plan.
#pragma once

#include "base/error.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// The last check before the plan is run. Returns false with an error if the plan cannot be run, or
// contains what no plan may contain.
bool plan_check(const struct plan *plan, const struct facts *facts, struct error *error);
// Returns false with an error if the working directory cannot be a project.
bool plan_refuse_project(const struct facts *facts, struct error *error);
// Returns false with an error if ~/.claudebox cannot be trusted or belongs to a later version.
bool plan_refuse_state(const struct facts *facts, struct error *error);
// Returns whether a host path contains, or lies in, the directory of the Nix daemon's socket,
// while the box must not have the daemon.
bool plan_exposes_daemon(const struct plan *plan, const struct facts *facts, const char *path);
