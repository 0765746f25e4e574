// SPDX-License-Identifier: MIT
// Finds sessions that were started in other directories of the project.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Returns the nearest directory above the working directory, in the same repository, or otherwise
// below it, that has sessions; NULL: there is none.
const char *elsewhere_find(const struct facts *facts, struct arena *arena);
