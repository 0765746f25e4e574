// SPDX-License-Identifier: MIT
// Merges the lists and objects of a profile into the configuration.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "config/profile/place.h"
#include "config/profile/schema.h"

#include <jansson.h>
#include <stdbool.h>

// The state of profile_apply.
struct profile_merge {
	struct config *config;
	struct arena *arena;
	struct config options;               // the configuration before the first profile
	const char *origin;                  // "profile NAME"
	VEC(struct profile_place) port_keys; // keys of profiles that request ports
};

// Returns the origin of the value at a place, which is kept in the arena.
struct origin profile_origin(const struct profile_merge *merge, const struct profile_place *place);

// The functions of struct profile_row. They return false with an error if there are too many
// entries; the value itself has been checked.
bool profile_apply_ports(struct profile_merge *merge, const struct profile_place *place,
			 const struct profile_row *row, json_t *list);
bool profile_apply_variables(struct profile_merge *merge, const struct profile_place *place,
			     const struct profile_row *row, json_t *object);
bool profile_apply_names(struct profile_merge *merge, const struct profile_place *place,
			 const struct profile_row *row, json_t *list);
bool profile_apply_mounts(struct profile_merge *merge, const struct profile_place *place,
			  const struct profile_row *row, json_t *list);
bool profile_apply_unprotect(struct profile_merge *merge, const struct profile_place *place,
			     const struct profile_row *row, json_t *list);
bool profile_apply_path(struct profile_merge *merge, const struct profile_place *place,
			const struct profile_row *row, json_t *list);
bool profile_apply_packages(struct profile_merge *merge, const struct profile_place *place,
			    const struct profile_row *row, json_t *list);
bool profile_apply_limits(struct profile_merge *merge, const struct profile_place *place,
			  const struct profile_row *row, json_t *object);
