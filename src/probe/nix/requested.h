// SPDX-License-Identifier: MIT
// Looks into the project's .claudebox directory, which the repository wrote.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// What the repository asks for.
void probe_requested_packages(struct facts *facts, struct arena *arena);
