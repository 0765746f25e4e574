// SPDX-License-Identifier: MIT
// Decides whether the box can reach the address of an MCP server.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Returns why the box cannot reach an http or https address, NULL: it can as far as the address
// shows. Stores the option that changes that, NULL: none does.
const char *reach_problem(const struct plan *plan, struct arena *arena, const char *address,
			  const char **ret_option);
