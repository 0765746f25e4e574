// SPDX-License-Identifier: MIT
// Collects facts about toolchains: which managers the user has, what of them comes along, and what
// the host's PATH contains.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"

// Fills facts->toolchains. Executes nothing.
void probe_toolchains(struct facts *facts, struct arena *arena, const struct config *config);
