// SPDX-License-Identifier: MIT
// The part of the audit on toolchains, and on what the box lacks.
#pragma once

#include "base/screen.h"
#include "plan/plan.h"

// Adds a row for each toolchain manager, with all of its directory trees.
void audit_add_toolchains(struct screen *screen, const struct plan *plan);
// Adds what the host has and the box lacks, with the option that brings it.
void audit_add_left_out(struct screen *screen, const struct plan *plan);
