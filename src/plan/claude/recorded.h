// SPDX-License-Identifier: MIT
// The parts of the user's Claude settings that an approval records.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Adds the hooks, the other commands, the addresses and the "deny" rules of these settings, which
// have no secrets any more and may be NULL, to plan->settings.
void recorded_add_settings(struct plan *plan, struct arena *arena, const char *text);
