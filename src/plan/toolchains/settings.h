// SPDX-License-Identifier: MIT
// Variables and settings of toolchains.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Adds the variables of the toolchains that come along.
void plan_add_toolchain_variables(struct plan *plan, struct arena *arena,
				  const struct facts *facts);
// Returns settings without lines that look like secrets. `sections`: of TOML, the tables that are
// kept, with the lines before the first one; NULL: all. Stores whether a line is missing.
const char *toolchain_clean_settings(struct arena *arena, const char *text, const char *sections,
				     bool *ret_shortened);
