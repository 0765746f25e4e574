// SPDX-License-Identifier: MIT
// A process that kills the box when claudebox is killed, also if the agent starves process 1.
#pragma once

#include "box/box.h"

#include <sys/types.h>

// Starts the guard. It ends with claudebox. Without it the box still ends with claudebox, but by
// init, which needs processor time for that.
void guard_start(struct box *box);
// Tells the guard the process id of init.
void guard_set_init(const struct box *box, pid_t init);
// Ends the guard.
void guard_end(struct box *box);
