// SPDX-License-Identifier: MIT
// Whether the repository around a project is one that it may be a part of.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Takes it back if the project may be no part of it.
void probe_enclosing_repository(struct facts *facts, struct arena *arena);
