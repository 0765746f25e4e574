// SPDX-License-Identifier: MIT
// Reads instances and looks up their projects. Changes nothing.
#pragma once

#include "base/arena.h"
#include "plan/state/instances.h"

#include <stdbool.h>

// Returns all instances in ~/.claudebox/instances (`all`), the most recently used first. Appends
// the names of unfinished removals to `ret_leftovers`.
instance_list probe_instances(struct arena *arena, int all, strings *ret_leftovers);
// Adds the size of a kept home.
void probe_add_home(struct instance_home *home, int parent, const char *name);
// Returns whether the project of the open instance is gone, or replaced if the instance was kept.
bool probe_project_gone(struct arena *arena, int instance, const char *name);
// Returns whether a path exists. Returns false when its file system does not respond in time.
bool probe_path_exists(struct arena *arena, const char *path);
