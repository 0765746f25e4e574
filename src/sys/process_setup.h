// SPDX-License-Identifier: MIT
// The first thing done: whatever the caller left behind (descriptors, signals, limits, rights) does no harm from here on.
#pragma once

#include "base/error.h"

#include <stdbool.h>

// Makes nothing depend on how the caller started us.
bool process_setup(struct error *error);
