// SPDX-License-Identifier: MIT
// Tells the user about MCP servers that were added or removed in a box.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Prints a line for the MCP servers that the instance has and did not have at the start, and one
// for those that it has no longer. `claude mcp add -s user` in a box is for the boxes of this
// project: Claude itself says "user config".
void report_changed_servers(const struct plan *plan, struct arena *arena);
