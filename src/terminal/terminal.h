// SPDX-License-Identifier: MIT
// The user's terminal while a box runs: saves its modes, restores them, and removes what the agent
// left.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

#include <poll.h>
#include <stdbool.h>
#include <termios.h>

struct streams;
struct terminal_relay;

struct terminal {
	int fd;          // the controlling terminal of claudebox; -1: none
	bool foreground; // claudebox was started in the foreground
	struct arena *arena;
	bool modes_saved;
	struct termios saved_modes;   // the modes when claudebox first had the foreground
	bool modes_set;               // claudebox has set other modes, for a terminal relay
	struct termios set_modes;     // these modes
	bool modes_changed;           // the agent was seen with other modes
	int check_interval_ms;        // until the next check of the modes
	struct terminal_relay *relay; // NULL: the agent uses the user's terminal itself
	struct streams *streams;      // standard streams that are not terminals
	// With "terminal": "direct":
	int saved_flags[3]; // of descriptors 0 to 2
	bool exclusive;     // TIOCEXCL was set
};

// A terminal that does not exist: all functions do nothing.
#define TERMINAL_NONE     \
	(struct terminal) \
	{                 \
		.fd = -1  \
	}

// Opens the controlling terminal and saves its modes. Creates the pipes of the box and, unless the
// plan has "terminal": "direct", its terminal. Returns false with an error on failure; the caller
// calls terminal_restore() in both cases.
bool terminal_open(struct terminal *terminal, const struct plan *plan, struct arena *arena,
		   struct error *error);
// Returns the descriptor for the box's descriptor `number` (0 to 2); -1: the box inherits that of
// claudebox.
int terminal_standard_fd(const struct terminal *terminal, int number);
// Begins to relay, after bwrap has inherited its descriptors.
void terminal_start(struct terminal *terminal);
// Descriptors that the supervisor polls.
enum { TERMINAL_POLL_SLOTS = 8 };
// Fills in the descriptors and events to poll.
void terminal_prepare_poll(const struct terminal *terminal,
			   struct pollfd slots[TERMINAL_POLL_SLOTS]);
// Copies data according to the events that poll(2) reported.
void terminal_handle_poll(struct terminal *terminal,
			  const struct pollfd slots[TERMINAL_POLL_SLOTS]);
// Returns whether the modes differ from the saved ones.
bool terminal_modes_differ(const struct terminal *terminal);
// Sets modes for the terminal relay, and keeps them: modes that differ later are those of another
// program. Returns whether the terminal has them.
bool terminal_set_modes(struct terminal *terminal, const struct termios *modes);
// Restores the saved modes if claudebox has set the present ones.
void terminal_restore_modes(struct terminal *terminal);
// Returns whether claudebox has the foreground of the terminal.
bool terminal_is_foreground(const struct terminal *terminal);
// Sets the terminal up for the box if claudebox has the foreground; otherwise does nothing.
void terminal_resume(struct terminal *terminal);
// Resets and restores the terminal before claudebox stops itself.
void terminal_suspend(struct terminal *terminal);
// Returns the time until the next terminal_check(), in ms; -1: none is needed.
int terminal_timeout(const struct terminal *terminal);
// Checks whether the agent has changed the modes, or whether claudebox has been brought to the
// foreground. `timed_out`: the time of terminal_timeout() has passed.
void terminal_check(struct terminal *terminal, bool timed_out);
// Writes the rest of the box's output, resets the terminal if the agent used it as a screen, and
// restores its modes. Does not close the descriptor.
void terminal_restore(struct terminal *terminal);
// Prints one line on stderr about sequences that did not pass and that the user may miss.
void terminal_report(const struct terminal *terminal);
