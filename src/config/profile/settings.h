// SPDX-License-Identifier: MIT
// Settings: the scalar keys of the profile schema, stored in and listed from a configuration.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "config/origin.h"
#include "config/profile/lists.h"
#include "config/profile/place.h"
#include "config/profile/schema.h"

#include <jansson.h>

// A setting that differs from its default.
struct profile_setting {
	const struct profile_row *row;
	const void *value; // in the configuration, by the row's kind
	const struct origin *origin;
	const char *text; // the value, not quoted
};
typedef VEC(struct profile_setting) profile_settings;

// Stores the value of a scalar key with its origin, unless the command line has set it.
void profile_setting_apply(struct profile_merge *merge, const struct profile_place *place,
			   const struct profile_row *row, const json_t *value);

// Returns the settings that an output lists: those that it has no code of its own for.
profile_settings profile_settings_list(struct arena *arena, const struct config *config,
				       enum setting_output output);
// Returns the value as JSON; the caller owns it.
json_t *profile_setting_json(const struct profile_setting *setting);
