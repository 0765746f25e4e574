// SPDX-License-Identifier: MIT
// Decides whether the project may use the repository that encloses it.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Removes the repository from the facts, and records the reason, when the project must not use it.
void probe_enclosing_repository(struct facts *facts, struct arena *arena);
