// SPDX-License-Identifier: MIT
// Finds directories of other worktrees inside the git directory that is mounted for the project.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Stores the directories to cover and to pin. If there are too many, refuses the repository.
void probe_other_worktrees(struct facts *facts, struct arena *arena);
