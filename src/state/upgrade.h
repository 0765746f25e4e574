// SPDX-License-Identifier: MIT
// The upgrade of the flat state of an earlier claudebox.
#pragma once

#include "base/error.h"
#include "plan/plan.h"

// Takes over the flat state in `root` as planned. The next call finishes an interrupted one.
bool state_upgrade(const struct plan *plan, int root, struct error *error);
