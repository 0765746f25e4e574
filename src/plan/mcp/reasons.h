// SPDX-License-Identifier: MIT
// The reasons to leave an MCP server out, and what brings it.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/claude/commands.h"

#include <stdbool.h>

struct server_reasons {
	command_lacks lacks;
	strings needed; // variables that the user would have to name
};

// Adds a reason. Returns false.
bool reasons_add(struct server_reasons *reasons, struct arena *arena, const char *why,
		 const char *option);
// Adds a secret that is not a variable of the server. Returns false.
bool reasons_add_secret(struct server_reasons *reasons, struct arena *arena, const char *why);
// Adds variables that the user would have to name; an empty list adds no reason.
void reasons_add_variables(struct server_reasons *reasons, struct arena *arena, const char *why,
			   const strings *names);
// Return whether a list has a name, and the list as text.
bool reasons_list_has(const strings *names, const char *name);
const char *reasons_list_names(struct arena *arena, const strings *names);
// Returns all reasons as one, with an option for all.
struct command_lack reasons_join(const struct server_reasons *reasons, struct arena *arena,
				 const struct config *config);
