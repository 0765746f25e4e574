// SPDX-License-Identifier: MIT
// The audit: everything that the box gets, shown to the user before the start.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "config/origin.h"
#include "plan/plan.h"

// Returns the audit, in lines that fit the reader's screen.
const char *render_audit(const struct plan *plan, struct arena *arena, struct reader reader);
extern const char *const origin_marks[ORIGIN_KIND_COUNT];
