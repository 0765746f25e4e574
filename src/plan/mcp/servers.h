// SPDX-License-Identifier: MIT
// Decides which of the user's MCP servers the box gets.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Returns the user's reduced account file (plan/mcp/account.h) with the servers that can run in the
// box and contain no secret; NULL: there is none, or it is not valid. Adds a row to plan->servers
// for each of them, and one to plan->left_out for each other. A secret variable that the user names
// ("extra_env_passthrough") becomes a variable of the box if the user's environment lacks it. The
// mounts and the variables of the plan must be complete.
const char *servers_filter(struct plan *plan, struct arena *arena, const struct facts *facts);

// Adds what the probe has to look for: names of programs, and absolute paths.
void servers_add_words(struct arena *arena, const struct facts *facts, strings *words);
// Does the same for the servers of one file (--mcp-config).
void servers_add_words_of(struct arena *arena, const struct facts *facts, const char *text,
			  strings *words);
