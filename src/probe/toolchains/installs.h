// SPDX-License-Identifier: MIT
// What an option must mount of an installation.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/toolchains/facts.h"

// Returns what a mount must bring of the installation in a directory. `row`: the row of the table
// whose root it lies in; NULL: none.
struct install install_examine(struct arena *arena, const char *directory,
			       const struct manager_row *row);
// Follows the variables that name directories of toolchains.
void install_read_variables(struct facts *facts, struct arena *arena);
