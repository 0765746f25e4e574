// SPDX-License-Identifier: MIT
// Chooses the profile, and reads and parses it and the profiles that it extends.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/profile/profile.h"
#include "plan/facts.h"

#include <stdbool.h>

// Adds the profiles of a launch to the chain, parsed, the one that extends no other first. The
// profile is chosen by `name`, else by CLAUDEBOX_PROFILE, else by the "directories" of all
// profiles, else it is default.json if that exists. Stores in ret_facts what chose it by directory.
// The caller releases the chain with profile_release, also after a failure.
bool probe_profile(const struct facts *facts, struct arena *arena, const char *name,
		   struct profile_facts *ret_facts, profile_chain *ret_chain, struct error *error);
