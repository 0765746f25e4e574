// SPDX-License-Identifier: MIT
// Reads a profile's text against the schema. Every complaint says where, in one line; none shows a variable's value.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/profile.h"
#include "config/profile_schema.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// The object that the text holds, checked against the table; NULL with an error.
json_t *profile_load(const struct profile_text *profile, struct error *error);
bool profile_too_many(const struct profile_place *place, const struct profile_row *row);
// The number of a string among a row's choices; choice_count when it is none of them.
size_t profile_choice(const struct profile_row *row, const json_t *value);
// One text for all spellings of a place that a mount can have.
const char *profile_destination(struct arena *arena, const char *path);
