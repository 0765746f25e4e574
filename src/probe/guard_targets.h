// SPDX-License-Identifier: MIT
// Finds the files that settings of git name and that a box can write.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/guard/places.h"

// Adds the targets of all noted settings to the facts. Needs probe_git_settings().
void probe_guard_targets(struct facts *facts, struct arena *arena);
// Adds the targets of the configuration of a submodule, by its git directory.
void probe_guard_module(struct facts *facts, struct arena *arena, const char *directory);
// Adds the target of a place in a git directory that is a symbolic link.
void probe_guard_link(struct facts *facts, struct arena *arena, const char *link,
		      const struct guard_row *row);
