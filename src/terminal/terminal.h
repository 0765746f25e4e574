// SPDX-License-Identifier: MIT
// The user's terminal while a box runs: saves its modes, restores them, and removes what the agent
// left.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <termios.h>

struct terminal_relay;

struct terminal {
	int fd;          // the controlling terminal of claudebox; -1: none
	bool foreground; // claudebox was started in the foreground
	struct arena *arena;
	bool modes_saved;
	struct termios saved_modes;   // the modes when claudebox first had the foreground
	bool modes_changed;           // the agent was seen with other modes
	int check_interval_ms;        // until the next check of the modes
	struct terminal_relay *relay; // NULL: the agent uses the user's terminal itself
};

// A terminal that does not exist: all functions do nothing.
#define TERMINAL_NONE     \
	(struct terminal) \
	{                 \
		.fd = -1  \
	}

// Opens the controlling terminal and saves its modes. Unless the plan has "terminal": "direct",
// also creates the terminal of the box. Returns false with an error on failure; the caller calls
// terminal_restore() in both cases.
bool terminal_open(struct terminal *terminal, const struct plan *plan, struct arena *arena,
		   struct error *error);
// Returns whether claudebox has the foreground of the terminal.
bool terminal_is_foreground(const struct terminal *terminal);
// Sets the terminal up for the box if claudebox has the foreground; otherwise does nothing.
void terminal_resume(struct terminal *terminal);
// Restores the modes before claudebox stops itself.
void terminal_suspend(struct terminal *terminal);
// Returns the time until the next terminal_check(), in ms; -1: none is needed.
int terminal_timeout(const struct terminal *terminal);
// Checks whether the agent has changed the modes, or whether claudebox has been brought to the
// foreground. `timed_out`: the time of terminal_timeout() has passed.
void terminal_check(struct terminal *terminal, bool timed_out);
// Writes the rest of the box's output, resets the terminal if the agent used it as a screen, and
// restores its modes. Does not close the descriptor.
void terminal_restore(struct terminal *terminal);
