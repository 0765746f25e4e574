// SPDX-License-Identifier: MIT
// Takes over the state of an earlier claudebox, as the plan says.
#pragma once

#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>

// The state of an earlier claudebox becomes one of today; whenever it is interrupted, the next one finishes it.
bool state_upgrade(const struct plan *plan, int root, struct error *error);
