// SPDX-License-Identifier: MIT
// Stays beside the box: passes signals in, keeps the terminal's job control as it is without a box, and brings the
// exit status out.
#pragma once

#include "base/error.h"
#include "box/box.h"
#include "plan/plan.h"

#include <stdbool.h>

struct network;

bool box_supervise(struct box *box, const struct plan *plan, struct network *network,
		   int *ret_status, struct error *error);
// Blocks what the supervisor passes on, and reads it.
int supervise_open_signals(void);
