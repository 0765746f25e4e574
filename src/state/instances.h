// SPDX-License-Identifier: MIT
// --instances lists the state of all projects, --gc removes that of projects that are gone. Nothing else ever does.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"

#include <stdbool.h>

// --instances and --gc.
bool instances_command(const struct config *config, struct arena *arena, int *ret_status,
		       struct error *error);
