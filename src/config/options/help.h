// SPDX-License-Identifier: MIT
// The text of --help, from the option table.
#pragma once

#include "base/arena.h"
#include "base/screen.h"

// Returns the help, in lines that fit the reader's screen.
const char *options_render_help(struct arena *arena, struct reader reader);
