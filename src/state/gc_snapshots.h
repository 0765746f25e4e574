// SPDX-License-Identifier: MIT
// The command --gc=snapshots.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/state/instances.h"

#include <stdbool.h>

// Removes the snapshots of the listed instances after a question. `all`: ~/.claudebox/instances.
bool gc_snapshots(const struct config *config, int all, const instance_list *list,
		  struct arena *arena, int *ret_status, struct error *error);
