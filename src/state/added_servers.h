// SPDX-License-Identifier: MIT
// Tells the user where MCP servers went that were added in a box.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Prints a line for the MCP servers that the instance has and did not have at the start. `claude
// mcp add -s user` in a box is for the boxes of this project: Claude itself says "user config".
void report_added_servers(const struct plan *plan, struct arena *arena);
