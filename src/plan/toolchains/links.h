// SPDX-License-Identifier: MIT
// Links in directories of the box that lead to something the box lacks.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Adds a row for each of them to what the box lacks. All mounts are in the plan already.
void plan_report_links(struct plan *plan, struct arena *arena, const struct facts *facts);
