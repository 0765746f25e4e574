// SPDX-License-Identifier: MIT
// Where programs are in the Nix store: a build by Nix was told, elsewhere the user's PATH says so.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Where programs are in the Nix store.
void probe_store(struct facts *facts, struct arena *arena);
// One that the box's PATH has in the store; NULL: it has none.
const char *probe_store_program(struct arena *arena, const struct facts *facts, const char *name);
