// SPDX-License-Identifier: MIT
// Logins with the token of --prove in the settings of package managers.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Adds logins with the token to the settings of package managers, before the plan is built: no file
// that claudebox generates from them may contain the token. Without settings of npm, adds some.
void prove_bait_settings(struct facts *facts, struct arena *arena, const char *token);
