// SPDX-License-Identifier: MIT
// Finds out how a box can be limited: by a new cgroup beside claudebox's own, or by systemd.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// Fills facts->cgroup. Examines systemd only if limits are configured or `need_systemd` is set.
void probe_cgroup(struct facts *facts, struct arena *arena, const struct config *config,
		  bool need_systemd);
