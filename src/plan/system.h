// SPDX-License-Identifier: MIT
// The part of the box that is the same for every project: an empty root, the system read-only, and
// generated files.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Adds the mounts of the system.
void plan_build_system(struct plan *plan, struct arena *arena, const struct facts *facts);
// Returns whether a path is in a file system of the kernel or of devices.
bool plan_kernel_file(const char *path);
// Returns why no box of this user may reach the Nix daemon, and stores a remedy; NULL: it may.
const char *plan_nix_problem(const struct facts *facts, const char **ret_remedy);
// Returns whether a box of this configuration gets the Nix daemon, if there is no such problem.
bool plan_requests_daemon(const struct config *config);
