// SPDX-License-Identifier: MIT
// Which settings of an .npmrc are harmless.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Returns whether npm, yarn and pnpm execute no program and contact no other address because of
// this text.
bool npmrc_is_harmless(struct arena *arena, const char *text);
