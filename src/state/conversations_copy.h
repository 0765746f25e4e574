// SPDX-License-Identifier: MIT
// Copies conversations of the host into the instance.
#pragma once

#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>

// Copies plan->state.import and records the answer of the user. The instance exists and is locked.
// Never replaces a file. Returns false with an error; if a copy cannot be written, none is left.
bool conversations_copy(const struct plan *plan, struct error *error);
