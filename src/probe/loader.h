// SPDX-License-Identifier: MIT
// Reads which loader a dynamic program asks for (PT_INTERP).
#pragma once

#include "base/arena.h"

// The loader that a dynamic program asks for; NULL: none.
const char *probe_loader(struct arena *arena, const char *path);
