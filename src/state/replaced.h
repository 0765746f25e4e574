// SPDX-License-Identifier: MIT
// Asks which state a project gets whose directory was replaced by another one at the same path.
#pragma once

#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// Decides about facts->state.kept_as before the instance is read. A launch on a terminal asks,
// other commands and --yes get a new state, and --prove uses the earlier one as it is. Returns
// false with an error if the user does not want to start.
bool resolve_replaced_state(const struct config *config, struct facts *facts, struct error *error);
