// SPDX-License-Identifier: MIT
// What the user's --settings and --mcp-config name and the box lacks.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Adds a row to plan->left_out for each command and MCP server in these files that cannot run. The
// mounts and the variables of the plan must be complete.
void plan_leave_out_argument_files(struct plan *plan, struct arena *arena,
				   const struct facts *facts);
