// SPDX-License-Identifier: MIT
// Finishes the box's mounts when bwrap is done: they are cut off from the host's, and those that were staged go to
// their places.
#pragma once

#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <sys/types.h>

// The last that is done to the box's mounts before the agent starts.
bool box_finish_mounts(const struct plan *plan, pid_t init, struct error *error);
