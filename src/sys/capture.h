// SPDX-License-Identifier: MIT
// Runs a helper program and captures its output, with limits on time and size.
#pragma once

#include "base/arena.h"

// Runs a program with a fixed environment and /dev/null as its input, and stores what it writes to
// stdout and stderr. Kills it if it takes too long. Returns its exit status, -1 if it could not be
// started or was killed.
int capture_output(struct arena *arena, const char *program, const char *const *arguments,
		   const char **ret_output);
