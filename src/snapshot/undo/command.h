// SPDX-License-Identifier: MIT
// The command --undo.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// Takes back what the last session, or the last undo, changed.
bool undo_command(const struct config *config, struct facts *facts, struct arena *arena,
		  int *ret_status, struct error *error);
