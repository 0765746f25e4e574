// SPDX-License-Identifier: MIT
// Toolchains: the install directories of the user's toolchain managers in the box.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// The programs of ~/.local/bin that belong to a toolchain.
#define BOX_PROGRAMS BOX_RUN "/bin"

// Adds the mounts of toolchains, and a row for each of them.
void plan_build_toolchains(struct plan *plan, struct arena *arena, const struct facts *facts);
// Adds the variables of the toolchains that come along.
void plan_add_toolchain_variables(struct plan *plan, struct arena *arena,
				  const struct facts *facts);
// Returns settings without lines that look like secrets. `sections`: of TOML, the tables that are
// kept, with the lines before the first one; NULL: all. Stores whether a line is missing.
const char *toolchain_clean_settings(struct arena *arena, const char *text, const char *sections,
				     bool *ret_shortened);
// Adds a row to what the host has and the box lacks. `option`: what brings it; NULL: nothing does.
void plan_leave_out(struct plan *plan, struct arena *arena, const char *what, const char *why,
		    const char *option);
