// SPDX-License-Identifier: MIT
// Finds the repository of the project without running git, and verifies that it belongs to it.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Fills the paths and identities of the repository that contains the project, or the reason why a
// .git that was found is not used. Leaves `git` unchanged when there is none.
void probe_repository(struct git_facts *git, struct arena *arena, const char *project);
