// SPDX-License-Identifier: MIT
// The lists of --instances and --gc as text and as JSON.
#pragma once

#include "base/arena.h"
#include "base/screen.h"
#include "plan/state/instances.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct instances_view {
	struct reader reader;
	const char *home;
	int64_t now;                 // seconds since 1970
	struct instance_home shared; // the home that boxes of all projects share
	bool shared_in_use;
};

// What --gc has removed.
struct removed_instances {
	size_t count;
	uint64_t bytes;
	size_t quarantined; // items in their quarantines
	bool failed;        // something could not be removed
};

const char *render_size(struct arena *arena, uint64_t bytes);
// Returns "1 thing" or "2 things".
const char *render_count(struct arena *arena, size_t count, const char *what);
// Returns a path as a JSON value, escaped if it is not UTF-8; null for NULL.
json_t *render_path_value(struct arena *arena, const char *path);
const char *render_removed(struct arena *arena, const struct removed_instances *removed);
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
