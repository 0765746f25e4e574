// SPDX-License-Identifier: MIT
// Finds and reads the chosen profile and those that it extends. Only the user's own directory is looked at.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/profile.h"
#include "plan/facts.h"

#include <stdbool.h>

// The profile that is chosen (by name, else by CLAUDEBOX_PROFILE, else default.json), after those that it extends.
bool probe_profile(const struct facts *facts, struct arena *arena, const char *name,
		   profile_chain *ret_chain, struct error *error);
