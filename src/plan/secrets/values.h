// SPDX-License-Identifier: MIT
// Values beside the names of secrets.
#pragma once

#include "plan/secrets/names.h"

#include <stdbool.h>
#include <stddef.h>

// Returns whether a value in source code or a document may be a secret: one word, not of
// letters alone unless they look random.
bool value_is_noticeable(const char *value, size_t length);
// Returns whether the value looks random, so that it is no example.
bool value_is_random(const char *value, size_t length);
// Returns whether the password of an address is more than an example: short ones with letters and
// digits count, except "pass1" and the like.
bool value_is_password(const char *value, size_t length);
// Returns whether base64 text encodes user:password.
bool value_encodes_login(const char *base64, size_t length);
// Returns whether a value beside a name of that strength is a secret.
bool value_is_secret(enum name_strength strength, const char *value, size_t length);
// Returns whether a value is obviously no secret: a path, a reference, a number, a mode.
bool value_is_harmless(const char *value, size_t length);
