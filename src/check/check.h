// SPDX-License-Identifier: MIT
// --check: tests whether the host has everything that a box needs.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "render/check.h"

#include <stdbool.h>

// Runs all checks and prints the results. Sets *ret_status to 1 if a box cannot start.
bool check_command(const struct config *config, const struct facts *facts, struct arena *arena,
		   int *ret_status, struct error *error);
