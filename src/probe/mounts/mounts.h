// SPDX-License-Identifier: MIT
// Collects facts about the mounts that the user requested.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"

// Fills facts->mounts with the source and destination of each mount of the configuration.
void probe_mounts(struct facts *facts, struct arena *arena, const struct config *config);
