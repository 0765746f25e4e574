// SPDX-License-Identifier: MIT
// Who can limit a box: we ourselves, in a cgroup beside ours, or systemd.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"

// Who can limit the box.
void probe_cgroup(struct facts *facts, struct arena *arena, const struct config *config);
