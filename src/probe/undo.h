// SPDX-License-Identifier: MIT
// What snapshots of the project need: git, and the patterns of files that it ignores.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Collects the facts for the snapshots. Needs the facts about the repository.
void probe_undo(struct facts *facts, struct arena *arena);
