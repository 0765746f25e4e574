// SPDX-License-Identifier: MIT
// The settings of package managers in the box: generated files without credentials.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Adds the generated files, links and variables, and the report on what stays outside. Needs all
// other mounts and variables of the plan. A file of the box's own at the same place is extended.
void plan_build_registries(struct plan *plan, struct arena *arena, const struct facts *facts);
// Returns the files with CA certificates that the settings name.
strings registries_bundles(struct arena *arena, const struct facts *facts);
// Returns the names of the tools with settings in the box: "npm, pip".
const char *registries_tools(const struct plan *plan, struct arena *arena);
