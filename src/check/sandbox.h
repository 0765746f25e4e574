// SPDX-License-Identifier: MIT
// Tries whether bwrap makes a sandbox here at all; knows the usual reasons why not, and what cures each.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Whether bwrap makes the smallest sandbox that has what a box needs, and what it said.
bool check_try_sandbox(struct arena *arena, const char *bwrap, const char **ret_output);
// Why it may not have, and the command that cures it; NULL when nothing is known to be wrong.
const char *check_userns_problem(struct arena *arena, const char **ret_cure);
