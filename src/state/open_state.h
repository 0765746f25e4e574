// SPDX-License-Identifier: MIT
// Offers to close a state directory that other users can read.
#pragma once

#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// Asks, in a launch on a terminal, whether to give ~/.claudebox the mode 700 that claudebox needs,
// and does it. Otherwise the state is refused later, as it is if other users can write it. Returns
// false with an error if the mode cannot be changed.
bool resolve_open_state(const struct config *config, struct facts *facts, struct error *error);
