// SPDX-License-Identifier: MIT
// The command --gc=home.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/state/instances.h"
#include "render/instances.h"

#include <stdbool.h>

// Measures the home that boxes of all projects share, in the open ~/.claudebox/instances, and finds
// out whether a box uses it.
void gc_view_shared(struct instances_view *view, int all, struct arena *arena);
// Lists the kept homes, asks, and removes those that no box uses.
bool gc_homes(const struct config *config, int all, const instance_list *list,
	      struct instances_view view, struct arena *arena, int *ret_status,
	      struct error *error);
