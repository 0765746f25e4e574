// SPDX-License-Identifier: MIT
// The command --diff.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// Shows what the last session changed.
bool diff_command(const struct config *config, struct facts *facts, struct arena *arena,
		  int *ret_status, struct error *error);
