// SPDX-License-Identifier: MIT
// Where the box has a directory of the host.
#include "plan/toolchains/place.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/path.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/toolchains/advice.h"
#include "plan/toolchains/facts.h"

#include <string.h>

// Returns whether a directory of a toolchain is in the box entry by entry.
static bool is_split(const struct plan *plan, const char *directory)
{
	vec_each(mount, &plan->mounts) {
		if (mount->toolchain && path_within(mount->path, directory) &&
		    !strchr(mount->path + strlen(directory) + 1, '/'))
			return true;
	}
	return false;
}

const char *toolchain_place(const struct plan *plan, struct arena *arena, const struct facts *facts,
			    const struct followed *directory)
{
	const char *place = directory->real;
	bool has_links = true;

	vec_each(found, &facts->toolchains.found) {
		if (path_within(place, found->real))
			place = arena_printf(arena, "%s%s", found->root,
					     directory->real + strlen(found->real));
	}
	if (!plan_provides(plan, place) && !is_split(plan, place) &&
	    !advice_requested(facts, place))
		return NULL;
	vec_each(hop, &directory->hops)
		has_links &= plan_provides(plan, hop->link);
	return has_links ? directory->path : place;
}
