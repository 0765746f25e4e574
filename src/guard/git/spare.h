// SPDX-License-Identifier: MIT
// Copies of git configurations that the next launch uses again.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Opens the directory of the kept copies of an instance. `create`: it is created if it is missing.
// Returns -1 if there is none.
int spare_open(int instance, bool create);
// Moves a kept copy with this name and text to the directory `copies`. Returns false if there is
// none.
bool spare_take(struct arena *arena, int spare, int copies, const char *name, const char *text);
// Keeps a copy that no process can write to any more. It stays where it is if that fails.
void spare_keep(int spare, int copies, const char *name);
