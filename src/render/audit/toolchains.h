// SPDX-License-Identifier: MIT
// The part of the audit on toolchains, and on what the box lacks.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/plan.h"

// Adds a row for each toolchain manager, with all of its directory trees.
void audit_add_toolchains(struct screen *screen, const struct plan *plan);
// Returns a line: what the host has and the box lacks, why, and the option that brings it.
const char *render_left_out(struct arena *arena, const struct plan_left_out *row, bool full);
// Adds what the host has and the box lacks, with the option that brings it.
void audit_add_left_out(struct screen *screen, const struct plan *plan);
