// SPDX-License-Identifier: MIT
// Tests whether bwrap can create a sandbox, and finds the usual causes if it cannot.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Starts a minimal sandbox with the features that a box needs. Returns whether that works, and sets
// *ret_output to bwrap's messages.
bool sandbox_try(struct arena *arena, const char *bwrap, const char **ret_output);
// Returns a known cause why this host does not allow user namespaces, and sets *ret_fix to a
// command that changes it. Returns NULL if there is none, and leaves *ret_fix as it is.
const char *sandbox_find_problem(struct arena *arena, const char **ret_fix);
