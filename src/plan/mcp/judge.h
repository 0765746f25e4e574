// SPDX-License-Identifier: MIT
// Judges one MCP server of the user: its secrets, its program or address.
#pragma once

#include "base/arena.h"
#include "base/json.h"
#include "plan/claude/commands.h"
#include "plan/facts.h"
#include "plan/plan.h"

// More arguments than these are not examined: the server is left out.
enum { MOST_ARGUMENTS = 100 };

// Returns a copy of a server that can run in the box, with the members that come along. Returns
// NULL with what it lacks otherwise. Adds variables that the user names to the plan.
json_t *server_judge(struct plan *plan, struct arena *arena, const struct facts *facts,
		     json_t *server, struct command_lack *ret_lack);
// Returns whether the box has the program and the files of a server, or reaches its address.
// Secrets are not judged.
bool server_can_run(struct plan *plan, struct arena *arena, const struct facts *facts,
		    json_t *server, struct command_lack *ret_lack);
