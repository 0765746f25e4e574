// SPDX-License-Identifier: MIT
// Masks the values of secrets.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Stands for a secret of which nothing is shown.
#define RENDER_MASK "********"

// Returns the value of a variable for the screen and for JSON, NULL: it may be shown as it is. Of a
// variable that was requested by name nothing is shown, and of another secret its mask.
const char *render_hidden(struct arena *arena, const struct plan_variable *variable);
// Returns a secret's value for the screen: its first and last characters, and none of a short one.
const char *render_masked(struct arena *arena, const char *value);
