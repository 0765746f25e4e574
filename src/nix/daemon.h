// SPDX-License-Identifier: MIT
// Whether nix on the host can use its store: by the daemon, or as the owner of the store.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Connects to the daemon. Returns NULL if that works, else the problem. *ret_owner is whether nix
// works without it, because the store belongs to the user.
const char *nix_daemon_problem(struct arena *arena, bool *ret_owner);
// What to do about that problem.
extern const char nix_daemon_fix[];
