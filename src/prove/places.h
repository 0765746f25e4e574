// SPDX-License-Identifier: MIT
// The protected places of the project, as canaries: the host has them already.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"
#include "prove/canaries.h"

// Adds the places that the plan protects, and those that the user has excepted, as granted.
void prove_add_places(struct arena *arena, const struct plan *plan, canaries *list);
