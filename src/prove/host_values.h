// SPDX-License-Identifier: MIT
// What the host knows of itself and the box shall not: names, numbers, devices.
#pragma once

#include "plan/plan.h"
#include "prove/prove.h"

// prove_facts.c: what the host knows of itself.
void prove_add_facts(struct prove *prove, const struct plan *plan);
