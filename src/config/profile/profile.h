// SPDX-License-Identifier: MIT
// Profiles: settings in ~/.claudebox/profiles/NAME.json, merged with the command line.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { LONGEST_PROFILE = 256 * 1024, MOST_EXTENDED = 8 };

// A profile is parsed once, by profile_parse; everything after that reads `object`.
struct profile {
	const char *name; // the file's name, without .json
	const char *path; // for messages
	const char *text;
	json_t *object; // NULL: not parsed
};
typedef VEC(struct profile) profile_chain;

// Returns the name of the profile that a parsed profile extends, in the arena; NULL: none.
const char *profile_extends(struct arena *arena, const struct profile *profile);
// Returns the description of a parsed profile, in the arena; NULL: none.
const char *profile_description(struct arena *arena, const struct profile *profile);

// Merges the profiles of a parsed chain into the configuration. Settings of the command line stay.
// The chain begins with the profile that extends no other; config->profile becomes the name of the
// last. The origins in the configuration point into the chain.
bool profile_apply(struct config *config, struct arena *arena, const struct profile *chain,
		   size_t count, struct error *error);

// Releases the parsed objects of a chain. Names, paths and texts belong to the arena.
void profile_release(profile_chain *chain);
