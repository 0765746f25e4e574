// SPDX-License-Identifier: MIT
// Places in a profile, and complaints about them: one line each, with file, line and column.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/locate.h"
#include "config/profile.h"
#include "config/profile_schema.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct profile_place profile_member(const struct profile_place *place, const char *key);
struct profile_place profile_entry(const struct profile_place *place, size_t index);
// "mounts[0].host", quoted for the screen.
const char *profile_place_name(const struct profile_place *place);
// "profile 'x': line 1, column 2: " and the message; false.
bool profile_fail(const struct profile_place *place, enum locate_what what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
// The same for a text that is not JSON.
bool profile_fail_syntax(const struct profile_text *profile, const json_error_t *problem,
			 struct error *error);
// "profile 'x': line 1, column 2: 'mounts[0].host'", to begin a complaint with; `member` (or NULL) is of an object there.
const char *profile_place_shown(struct arena *arena, const struct profile_place *place,
				const char *member);
