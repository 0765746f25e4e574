// SPDX-License-Identifier: MIT
// Reads the host's PATH: its directories, and the programs in those that a box may lack.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Adds the entries of PATH.
void path_read_entries(struct facts *facts, struct arena *arena);
// Adds the programs of ~/.local/bin, if it is on PATH. `wanted` is the set of managers.
void path_read_local(struct facts *facts, struct arena *arena, unsigned int wanted);
// Returns the paths that PATH leads to: its directories as written and without symbolic links, and
// the targets of links in ~/.local/bin and /usr/local/bin.
strings path_signs(const struct facts *facts, struct arena *arena);
// Finds the watched programs of each entry, and counts the programs of directories that are neither
// the system's nor a toolchain's.
void path_count_programs(struct facts *facts, struct arena *arena);
