// SPDX-License-Identifier: MIT
// The audit (UX-01): everything the box gets, for a person to read before saying yes.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/plan.h"

const char *render_audit(const struct plan *plan, struct arena *arena, struct reader reader);
// A secret's value for the eyes: its ends only, and nothing of a short one.
const char *render_masked(struct arena *arena, const char *value);
extern const char *const origin_marks[ORIGIN_COUNT];
