// SPDX-License-Identifier: MIT
// Runs a small helper program and reads what it says, within bounds.
#pragma once

#include "base/arena.h"

// Runs a program with a fixed environment and returns its exit status, -1 when it did not end by itself.
int capture_output(struct arena *arena, const char *program, const char *const *arguments,
		   const char **ret_output);
