// SPDX-License-Identifier: MIT
// The command --quarantine.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// Lists the quarantine of the project, puts an item back or removes all, by config->quarantine.
bool quarantine_command(const struct config *config, const struct facts *facts, struct arena *arena,
			int *ret_status, struct error *error);
