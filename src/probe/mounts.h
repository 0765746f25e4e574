// SPDX-License-Identifier: MIT
// Looks at what the user asked to mount, and where.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"

// What the user asked to mount.
void probe_mounts(struct facts *facts, struct arena *arena, const struct config *config);
