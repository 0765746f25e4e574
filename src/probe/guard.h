// SPDX-License-Identifier: MIT
// Finds the protected places of the project that exist.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Fills facts->guard. Needs the facts about the repository.
void probe_guard(struct facts *facts, struct arena *arena);
