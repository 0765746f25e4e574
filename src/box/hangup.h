// SPDX-License-Identifier: MIT
// Ends the box after the user's terminal has hung up, also if the agent ignores SIGHUP.
#pragma once

#include "box/box.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

struct hangup {
	bool ignored;     // claudebox was started with SIGHUP ignored, as nohup(1) does
	int64_t since_ms; // when the terminal hung up; 0: it has not
	int step;         // of the signals that were sent
};

struct hangup hangup_open(void);
// Fills in the descriptor and events to poll.
void hangup_prepare_poll(const struct hangup *hangup, const struct box *box, struct pollfd *slot);
// Returns the time until the next hangup_check() in ms; -1: only the event of the slot needs one.
int hangup_timeout(const struct hangup *hangup);
// Sends the signal whose time has come: SIGHUP, SIGTERM and at last SIGKILL to the whole box.
void hangup_check(struct hangup *hangup, const struct box *box, const struct pollfd *slot);
