// SPDX-License-Identifier: MIT
// Names, numbers and devices of the host that the box must not learn.
#pragma once

#include "plan/plan.h"
#include "prove/prove.h"

// Adds the identifying values of the host, and the paths that the attack program needs, to the
// list.
void prove_add_host_values(struct prove *prove, const struct plan *plan);
