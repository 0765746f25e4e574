// SPDX-License-Identifier: MIT
// Finds the files and directories that the user's own Claude files name.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Adds the imports of the user's CLAUDE.md, and the additional directories of the user's settings.
void probe_named_paths(struct facts *facts, struct arena *arena);
