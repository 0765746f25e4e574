// SPDX-License-Identifier: MIT
// Limits of a directory of generated hooks, of which a box gets a copy.
#pragma once

// The names of copies begin with it.
#define HOOKS_COPY "hooks-"

enum { HOOKS_MAX = 64, HOOK_SIZE_MAX = 64 * 1024 };
