// SPDX-License-Identifier: MIT
// Looks at a ~/.claudebox that was once the .claude directory of every project.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// What an earlier claudebox left there, when it has no version yet.
void probe_flat_state(struct facts *facts, struct arena *arena);
