// SPDX-License-Identifier: MIT
// Masks the values of secrets.
#pragma once

#include "base/arena.h"

// Returns a secret's value for the screen: its first and last characters, and none of a short one.
const char *render_masked(struct arena *arena, const char *value);
