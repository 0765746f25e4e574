// SPDX-License-Identifier: MIT
// Plants canaries on the host, checks them after the attacks, and removes them.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"
#include "prove/prove.h"

#include <stdbool.h>

// Plants variables and open descriptors, as a caller could have left them. Must run before the
// facts are collected.
bool prove_begin(struct prove *prove, struct arena *arena, struct error *error);

// Plants all other canaries. A canary that cannot be created becomes CANARY_ABSENT or
// CANARY_NOT_PLANTED.
void prove_plant(struct prove *prove, const struct plan *plan);

// Sets `harm` of every canary that the attacks have changed.
void prove_check_canaries(struct prove *prove);

// Removes the planted keys and ends the planted processes. The journal removes the rest.
void prove_remove_canaries(struct prove *prove);
