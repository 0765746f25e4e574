// SPDX-License-Identifier: MIT
// Reads the settings of package managers.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Fills facts->registries. Needs the facts about the user and the secret places.
void probe_registries(struct facts *facts, struct arena *arena);
