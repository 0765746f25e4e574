// SPDX-License-Identifier: MIT
// Expands the listed parts of a toolchain manager to the files that exist.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/toolchains/facts.h"

// Adds the parts that exist below found->real. `projects`: the roots of known projects, whose boxes
// can write what is in them.
void toolchain_expand(struct toolchain_found *found, struct arena *arena, struct facts *facts,
		      const strings *projects);
