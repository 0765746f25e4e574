// SPDX-License-Identifier: MIT
// The audit on screens of several sizes.
#pragma once

#include "base/screen.h"
#include "fixture.h"

#include <stdbool.h>

// Returns the audit in full or in short, with "<ESC>" in place of the byte.
const char *screen_audit(struct world *world, struct reader reader, bool full);
// Returns what is wrong with the audit of this plan on any screen, NULL: nothing.
const char *screen_problem(struct world *world);
