// SPDX-License-Identifier: MIT
// The user's terminal around a box: kept as it was, and, when the plan says so, behind a filter.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <termios.h>

struct box;

struct terminal_relay;

struct terminal {
	struct arena *arena;
	bool saved;
	struct termios modes;         // as they were when we first had it
	bool used;                    // the agent was seen with others
	int next_look;                // ms
	struct terminal_relay *relay; // NULL: the agent has the terminal itself
};

enum { TERMINAL_WATCHED = 2 };

// Before the start. With a filter, opens the box's own terminal.
bool terminal_begin(struct box *box, const struct plan *plan, struct arena *arena,
		    struct error *error);
// We have it, for the first time or again; or may have got it without being told.
void terminal_resumed(struct box *box);
// Our job is about to stop.
void terminal_stopping(struct box *box);
// Until the next look at it, in ms; -1: none is needed.
int terminal_timeout(const struct box *box);
// `waited`: the patience is over.
void terminal_look(struct box *box, bool waited);
// Whatever way the box ended: as it was, with nothing in it that the agent left.
void terminal_end(struct box *box);
