// SPDX-License-Identifier: MIT
// Finds the project of this user whose boxes can write a path.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Returns the directory of a known project that contains the path, or NULL. A project is known if
// it has an instance. Its worktrees, its git directory and its writable mounts count, too.
const char *probe_known_project(struct arena *arena, const struct facts *facts, const char *path);
// Returns the roots of all known projects, of which a box can write what is in them. At most 4096
// are read.
strings probe_known_roots(struct arena *arena, const struct facts *facts);
