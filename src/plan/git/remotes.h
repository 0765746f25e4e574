// SPDX-License-Identifier: MIT
// Repositories on this machine that remotes and submodules of the repository name.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Returns whether a setting is the address of a remote or of a submodule.
bool git_setting_is_address(const char *name);
// Lists the paths that the box lacks. Needs all mounts of the box.
void plan_leave_out_remotes(struct plan *plan, struct arena *arena, const struct facts *facts);
