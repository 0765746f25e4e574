// SPDX-License-Identifier: MIT
// Where the box has a directory of the host.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Returns the path of a directory in the box, requested mounts included; NULL: the box does not
// have it. Links on the way that the box lacks are resolved.
const char *toolchain_place(const struct plan *plan, struct arena *arena, const struct facts *facts,
			    const struct followed *directory);
