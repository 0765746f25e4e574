// SPDX-License-Identifier: MIT
// The commands --instances and --gc.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"

#include <stdbool.h>

// Runs --instances or --gc, by config->action.
bool instances_command(const struct config *config, struct arena *arena, int *ret_status,
		       struct error *error);
