// SPDX-License-Identifier: MIT
// Places in a profile, and errors at them: one line each, with file, line and column.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/locate.h"
#include "config/profile/profile.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// The path from the root of a profile to a value.
struct profile_place {
	const struct profile *profile;
	struct error *error; // NULL in a place that an origin keeps
	struct json_step steps[4];
	size_t depth;
};

// Return the place of a member or an entry of the value at `place`.
struct profile_place profile_member(const struct profile_place *place, const char *key);
struct profile_place profile_entry(const struct profile_place *place, size_t index);
// Returns the path of a place, "mounts[0].host", quoted for the screen.
const char *profile_place_name(const struct profile_place *place);
// Sets the error to "profile 'x': line 1, column 2: " and the message. Returns false.
bool profile_fail(const struct profile_place *place, enum locate_what what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// Sets the error for a text that is not JSON, with a hint. Returns false.
bool profile_fail_syntax(const struct profile *profile, const json_error_t *problem,
			 struct error *error);
// Returns "profile 'x': line 1, column 2: 'mounts[0].host'", the start of a message. `member` names
// a member of the object at the place; NULL: the place itself.
const char *profile_place_shown(struct arena *arena, const struct profile_place *place,
				const char *member);
