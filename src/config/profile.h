// SPDX-License-Identifier: MIT
// Profiles: what a user keeps in ~/.claudebox/profiles/NAME.json, merged under the command line.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>

enum { LONGEST_PROFILE = 256 * 1024, MOST_EXTENDED = 8 };

struct profile_text {
	const char *name; // the file's, without .json
	const char *path; // for the reader
	const char *text;
};
typedef VEC(struct profile_text) profile_chain;

// The profile that this one builds on, NULL: none. False when the text is no good profile.
bool profile_extends(struct arena *arena, const struct profile_text *profile, const char **ret_name,
		     struct error *error);

// What it says about itself; NULL: nothing, or it is no good profile.
const char *profile_description(struct arena *arena, const struct profile_text *profile);

// Fills in what the command line left open; what it set stays. `chain` begins with the profile that extends no other,
// and config->profile becomes the name of the last.
bool profile_apply(struct config *config, struct arena *arena, const struct profile_text *chain,
		   size_t count, struct error *error);
