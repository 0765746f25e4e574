// SPDX-License-Identifier: MIT
// Finds programs in the Nix store: in directories that were compiled in, or else on the user's
// PATH.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Fills facts->store.
void probe_store(struct facts *facts, struct arena *arena);
// Returns the path of a program in the directories of facts->store, NULL if it is in none of them.
const char *probe_store_program(struct arena *arena, const struct facts *facts, const char *name);
