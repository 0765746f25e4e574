// SPDX-License-Identifier: MIT
// The files of profiles: their names, their paths and their texts.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/profile/profile.h"
#include "plan/facts.h"

#include <stdbool.h>

// Return the path of the directory of profiles, and of the file of a profile.
const char *profile_directory_path(struct arena *arena, const struct facts *facts);
const char *profile_file_path(struct arena *arena, const struct facts *facts, const char *name);
// Returns a path for messages.
const char *profile_shown(struct arena *arena, const struct facts *facts, const char *path);
// Returns the names of all profiles, sorted.
strings profile_names(struct arena *arena, const struct facts *facts);
// Refuses a directory of profiles that other users can change.
bool profile_check_directory(struct arena *arena, const struct facts *facts, struct error *error);
// Reads the text of a profile, or sets the error. `source`: what chose the profile.
bool profile_read(struct arena *arena, const struct facts *facts, struct profile *profile,
		  const char *source, struct error *error);
