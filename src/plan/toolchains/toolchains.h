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
// Returns whether a mount of the box is, or lies in, this directory.
bool toolchain_has_below(const struct plan *plan, const char *path);
