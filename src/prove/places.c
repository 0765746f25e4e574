// SPDX-License-Identifier: MIT
// The protected places of the project, as canaries: the host has them already.
#include "prove/places.h"

#include "base/arena.h"
#include "base/quote.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/guard/facts.h"
#include "plan/plan.h"
#include "prove/canaries.h"
#include "prove/protocol.h"

#include <string.h>

enum { MOST_PLACES = 64 }; // that are attacked

// Returns the kind of a place; of a directory with a copy, the path of the copy in the box.
static const char *kind_of(const struct plan *plan, const struct guard_place *place)
{
	if (place->mount == GUARD_PIN)
		return "pin";
	vec_each(copy, &plan->guard.copies) {
		if (copy->hooks && str_equal(copy->config, place->path))
			return copy->link;
	}
	return place->row && place->row->directory ? "directory" : "file";
}

void prove_add_places(struct arena *arena, const struct plan *plan, canaries *list)
{
	size_t count = 0;

	vec_each(place, &plan->guard.places) {
		if (!strpbrk(place->path, "\t\n") && count++ < MOST_PLACES)
			vec_push(arena, list,
				 (struct canary){ .kind = CANARY_PLACE,
						  .group = place->path,
						  .value = kind_of(plan, place) });
	}
	if (!plan->guard.active)
		return;
	vec_each(request, &plan->config->unprotect) {
		const char *name = str_after(request->path, "**/"); // in every directory

		vec_push(arena, list,
			 (struct canary){
				 .kind = CANARY_PLACE,
				 .group = name ? name : request->path,
				 .value = "file",
				 .granted = arena_printf(arena, "%s does not protect '%s'",
							 request->origin.name,
							 quote_display(arena, request->path, 0)) });
	}
}
