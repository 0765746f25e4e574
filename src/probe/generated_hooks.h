// SPDX-License-Identifier: MIT
// Recognises a directory of hooks that a tool has generated.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Returns whether a directory of hooks is generated: of few small files, among them a .gitignore
// that hides all of them.
bool probe_is_generated(struct arena *arena, const char *path);
