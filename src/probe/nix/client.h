// SPDX-License-Identifier: MIT
// Reads what the user's own nix goes by: settings, registries, and the index that finds commands in packages.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// What nix goes by beside that.
void probe_nix_client(struct facts *facts, struct arena *arena);
// Where nix's user keeps what decides about a reference.
const char *probe_nix_configuration(struct arena *arena, const struct facts *facts);
