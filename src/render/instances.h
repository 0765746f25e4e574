// SPDX-License-Identifier: MIT
// The lists of --instances and --gc, on the screen and as JSON.
#pragma once

#include "base/arena.h"
#include "plan/state/instances.h"

#include <stddef.h>
#include <stdint.h>

const char *render_size(struct arena *arena, uint64_t bytes);
const char *render_instances(struct arena *arena, const instance_list *list,
			     const struct instances_view *view);
// What --gc would remove and what it keeps, and why. `leftovers` removals were begun and not finished.
const char *render_garbage(struct arena *arena, const instance_list *list, size_t leftovers,
			   const struct instances_view *view);
const char *render_instances_json(struct arena *arena, const instance_list *list);
