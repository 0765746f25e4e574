// SPDX-License-Identifier: MIT
// The flat state of an earlier claudebox: ~/.claudebox was the .claude directory of all projects.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Fills facts->state.flat. To be called when ~/.claudebox has no version file.
void probe_flat_state(struct facts *facts, struct arena *arena);
