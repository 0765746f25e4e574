// SPDX-License-Identifier: MIT
// Shows a long text on the terminal.
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

// Shows a text in the user's pager, $PAGER or less. Without one, without a terminal, and if it is
// set to nothing, the text is printed.
bool pager_show(struct arena *arena, const char *text, struct error *error);
