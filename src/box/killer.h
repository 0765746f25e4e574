// SPDX-License-Identifier: MIT
// A process that kills the box when claudebox is killed, also if the agent starves process 1.
#pragma once

#include "box/box.h"

#include <sys/types.h>

// Starts the killer. It ends with claudebox. Without it the box still ends with claudebox, but by
// init, which needs processor time for that.
void killer_start(struct box *box);
// Tells the killer the process id of init.
void killer_set_init(const struct box *box, pid_t init);
// Tells the killer to end, without waiting for it. For a box that has ended.
void killer_dismiss(const struct box *box);
// Ends the killer.
void killer_end(struct box *box);
