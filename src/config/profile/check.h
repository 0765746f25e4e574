// SPDX-License-Identifier: MIT
// Parses a profile and checks it against the schema. Every error gives the position in one line;
// none shows the value of a variable.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/profile/profile.h"
#include "config/profile/place.h"
#include "config/profile/schema.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// Parses profile->text into profile->object, which profile_release releases. Returns false with an
// error if the text does not match the schema.
bool profile_parse(struct profile *profile, struct error *error);
// Sets the error for a list or object that is too long. Returns false.
bool profile_too_many(const struct profile_place *place, const struct profile_row *row);
// Returns the index of a string among the row's choices; choice_count: it is none of them.
size_t profile_choice(const struct profile_row *row, const json_t *value);
// Returns one spelling for all spellings of the path of a mount in the box.
const char *profile_destination(struct arena *arena, const char *path);
