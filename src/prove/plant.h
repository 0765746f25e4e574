// SPDX-License-Identifier: MIT
// Plants canaries on the host, looks at them afterwards, and takes them away.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"
#include "prove/prove.h"

#include <stdbool.h>

// Before the machine is looked at: what a caller could have left in the environment, and open.
bool prove_begin(struct prove *prove, struct arena *arena, struct error *error);
// prove_plant.c: what is made, and what became of it. What cannot be made leaves the list.
void prove_plant(struct prove *prove, const struct plan *plan);
void prove_look_after(struct prove *prove);
void prove_uproot(struct prove *prove);
