// SPDX-License-Identifier: MIT
// Looks at instances and their projects; changes nothing.
#pragma once

#include "base/arena.h"
#include "plan/state/instances.h"

#include <stdbool.h>

typedef VEC(struct instance_record) instance_records;
typedef VEC(struct project_sight) project_sights;

// Everything below ~/.claudebox/instances (`all`), the last used first. `ret_leftovers`: names of removals that were
// begun.
instance_list probe_instances(struct arena *arena, int all, strings *ret_leftovers);
// A sight for each record; never waits long.
project_sights probe_projects(struct arena *arena, const instance_records *records);
// The same question again, about the one that is open as `instance`.
bool probe_still_gone(struct arena *arena, int instance, const char *id);
