// SPDX-License-Identifier: MIT
// The program `git` of the box, which refuses worktrees and stashes that would be lost.
#pragma once

#include "base/arena.h"
#include "gitwrap/places.h"
#include "plan/facts.h"
#include "plan/plan.h"

// The place for worktrees that messages and instructions name, relative to the project.
#define WORKTREE_PLACE ".worktrees"

#include <stdbool.h>

// Returns whether the box has the wrapper: the agent can change a repository of the host.
bool plan_has_git_wrapper(const struct plan *plan, const struct facts *facts);
// Adds the wrapper. Needs all mounts.
void plan_add_git_wrapper(struct plan *plan, struct arena *arena, const struct facts *facts);
