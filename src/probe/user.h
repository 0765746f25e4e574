// SPDX-License-Identifier: MIT
// Facts about the user: account, home directory, and the Claude files in it.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"

#include <stdbool.h>

// Fills the environment, the account, the home directory and the path of the state directory. Fails
// when there is no home directory or when another user owns it.
bool probe_user(struct facts *facts, struct arena *arena, char *const *environment,
		struct error *error);
// Fills facts->user_claude from ~/.claude or $CLAUDE_CONFIG_DIR. Needs the facts about the state,
// the store and the user.
void probe_user_claude(struct facts *facts, struct arena *arena);
// Return $XDG_CONFIG_HOME and $XDG_CACHE_HOME, or ~/.config and ~/.cache where the variable is not
// set, is not absolute, or names a directory that a box can write to.
const char *probe_config_home(struct arena *arena, const struct facts *facts);
const char *probe_cache_home(struct arena *arena, const struct facts *facts);
