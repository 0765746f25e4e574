// SPDX-License-Identifier: MIT
// Finds out how a box can be limited: by a new cgroup beside claudebox's own, or by systemd.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"

// Fills facts->cgroup. Looks for systemd only if limits are configured, or for --check.
void probe_cgroup(struct facts *facts, struct arena *arena, const struct config *config);
