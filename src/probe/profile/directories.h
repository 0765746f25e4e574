// SPDX-License-Identifier: MIT
// Finds the profile whose "directories" match the project.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"

#include <stdbool.h>

// Stores the name of the profile with the most exact pattern that matches the project, NULL: none,
// and in ret_facts that pattern, and a sentence on each profile that may be meant for this
// directory but cannot be read. Returns false with an error if two profiles match equally well.
bool probe_profile_by_directory(const struct facts *facts, struct arena *arena,
				struct profile_facts *ret_facts, const char **ret_name,
				struct error *error);
