// SPDX-License-Identifier: MIT
// Reads the files of the user's nix: settings, registries, and the index of nix-index.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Fills the settings, registries and index in facts->nix.
void probe_nix_client(struct facts *facts, struct arena *arena);
