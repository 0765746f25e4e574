// SPDX-License-Identifier: MIT
// Supervises a running box: forwards signals, does job control, returns the exit status.
#pragma once

#include "base/error.h"
#include "box/box.h"
#include "plan/plan.h"

#include <stdbool.h>

struct network;

// Supervises the box until it ends. `network` is NULL in tiers without network helpers. *ret_status
// is the exit status of the agent. Returns false with an error if bwrap failed or the agent could
// not be executed.
bool box_supervise(struct box *box, const struct plan *plan, struct network *network,
		   int *ret_status, struct error *error);
// Blocks the signals that the supervisor handles. Returns a signalfd for them; -1 with errno.
int supervise_open_signals(void);
