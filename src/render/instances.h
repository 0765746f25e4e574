// SPDX-License-Identifier: MIT
// The lists of --instances and --gc as text and as JSON.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/state/instances.h"

#include <stddef.h>
#include <stdint.h>

struct instances_view {
	struct reader reader;
	const char *home;
	int64_t now;                 // seconds since 1970
	struct instance_home shared; // the home that boxes of all projects share
	bool shared_in_use;
};

const char *render_size(struct arena *arena, uint64_t bytes);
const char *render_instances(struct arena *arena, const instance_list *list,
			     const struct instances_view *view);
// Renders the instances that --gc removes, and those that it keeps although their project is
// missing, with the reason. `leftovers` is the number of unfinished removals.
const char *render_garbage(struct arena *arena, const instance_list *list, size_t leftovers,
			   const struct instances_view *view);
// Renders the kept homes, which --gc=home removes.
const char *render_homes(struct arena *arena, const instance_list *list,
			 const struct instances_view *view);
const char *render_instances_json(struct arena *arena, const instance_list *list,
				  const struct instance_home *shared);
