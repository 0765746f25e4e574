// SPDX-License-Identifier: MIT
// Completes the mounts of the box after bwrap: makes them private and moves the staged mounts.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "box/discarded.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <sys/types.h>

// Completes the mounts of the box whose process 1 is `init`, after bwrap has set up the sandbox and
// before the agent starts, and opens the directories that are in memory. Returns false with an
// error on failure.
bool box_finish_mounts(const struct plan *plan, pid_t init, struct discarded_places *places,
		       struct error *error);
// Returns the path of the staged mount of the host's home, which exists until box_finish_mounts()
// has bound parts of it.
const char *mount_carrier_path(struct arena *arena, const struct plan *plan);
