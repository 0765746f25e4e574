// SPDX-License-Identifier: MIT
// Reads the requested packages from the project's directory .claudebox.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Fills facts->requested: the list, the user's stored answer, and the names of other files there.
void probe_requested_packages(struct facts *facts, struct arena *arena);
