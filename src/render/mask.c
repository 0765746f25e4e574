// SPDX-License-Identifier: MIT
// Masks the values of secrets.
#include "render/mask.h"

#include "base/arena.h"
#include "base/quote.h"

#include <string.h>

enum { MASK_ENDS = 4, MASK_SHORTEST = 20 };

const char *render_masked(struct arena *arena, const char *value)
{
	size_t length = strlen(value);
	const char *first;
	const char *last;

	if (length < MASK_SHORTEST)
		return RENDER_MASK;
	first = arena_strndup(arena, value, MASK_ENDS);
	last = value + length - MASK_ENDS;
	return arena_printf(arena, "%s...%s", quote_display(arena, first, 0),
			    quote_display(arena, last, 0));
}

const char *render_hidden(struct arena *arena, const struct plan_variable *variable)
{
	if (variable->origin.kind == ORIGIN_REQUESTED)
		return *variable->value ? RENDER_MASK : "(empty)";
	return variable->secret ? render_masked(arena, variable->value) : NULL;
}
