// SPDX-License-Identifier: MIT
// A terminal of the box's own, and the filter between it and the user's.
#pragma once

#include "base/error.h"
#include "box/box.h"
#include "plan/plan.h"
#include "terminal/terminal.h"

#include <poll.h>
#include <stdbool.h>

// The relay, for the supervisor: what to wait for, what to do then.
void terminal_watched(const struct box *box, struct pollfd wait[TERMINAL_WATCHED]);
void terminal_take(struct box *box, const struct pollfd wait[TERMINAL_WATCHED]);
void terminal_resized(const struct box *box);
// Parts of the relay that terminal.c uses.
bool terminal_relay_open(struct box *box, const struct plan *plan, struct error *error);
// bwrap has the other end now.
void terminal_relay_started(struct box *box);
// The descriptor for the box's standard input, output or error, -1: ours is inherited.
int terminal_relay_standard(const struct box *box, int number);
void terminal_relay_enter(struct box *box);
void terminal_relay_leave(struct box *box);
bool terminal_relay_waits(const struct box *box); // for the user to bring us to the foreground
// What is left of the output; true: the agent did more than print.
bool terminal_relay_end(struct box *box);
