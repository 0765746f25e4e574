// SPDX-License-Identifier: MIT
// Repositories in the project and submodules: digests of their branches and HEAD.
#pragma once

#include "base/arena.h"

// Returns a value that changes with the branches, tags, stash or HEAD of the repository in a
// directory of the project. `modules` is the directory of the submodules' git directories, NULL:
// none. Returns NULL if there is no repository. Executes nothing.
const char *nested_digest(struct arena *arena, int project, const char *project_path,
			  const char *path, const char *modules);
