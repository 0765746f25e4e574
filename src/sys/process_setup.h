// SPDX-License-Identifier: MIT
// Checks and resets what claudebox inherits from its caller: descriptors, signals, limits,
// privileges.
#pragma once

#include "base/error.h"

#include <stdbool.h>

// Runs first in main(). Opens missing standard descriptors, refuses dangerous ones, refuses
// privileges and too low limits, resets signals, and makes the process non-dumpable. Returns false
// with an error.
bool process_setup(struct error *error);

// Marks all descriptors except 0 to 2 close-on-exec, so that no program inherits those of the
// caller.
bool close_inherited_on_exec(struct error *error);
