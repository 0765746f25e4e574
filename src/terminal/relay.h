// SPDX-License-Identifier: MIT
// Terminal relay: the pseudo-terminal of the box, connected to the user's terminal by the terminal
// filter.
#pragma once

#include "base/error.h"
#include "plan/plan.h"
#include "terminal/reset.h"
#include "terminal/terminal.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>

// All functions do nothing if there is no terminal relay.

// Creates the pseudo-terminal, if one of descriptors 0 to 2 is a terminal. Returns false with an
// error on failure.
bool terminal_relay_open(struct terminal *terminal, const struct plan *plan, struct error *error);
// Returns the descriptor for the box's descriptor `number` (0 to 2); -1: the box inherits that of
// claudebox.
int terminal_relay_standard_fd(const struct terminal *terminal, int number);
// Begins to relay, after bwrap has inherited its descriptors.
void terminal_relay_start(struct terminal *terminal);

// Descriptors that the supervisor polls: the user's terminal and the master of the pseudo-terminal.
enum { RELAY_POLL_SLOTS = 2 };
// Fills in the descriptors and events to poll.
void terminal_relay_prepare_poll(const struct terminal *terminal,
				 struct pollfd slots[RELAY_POLL_SLOTS]);
// Relays data according to the events that poll(2) reported.
void terminal_relay_handle_poll(struct terminal *terminal,
				const struct pollfd slots[RELAY_POLL_SLOTS]);
// Copies the window size of the user's terminal to the pseudo-terminal.
void terminal_relay_resize(const struct terminal *terminal);

// Passes Ctrl+C, Ctrl+Z and Ctrl+\ of the user's terminal, received by claudebox as a signal, to
// the foreground process group of the box. Returns false if this is another signal.
bool terminal_relay_signal(const struct terminal *terminal, const struct signalfd_siginfo *info);

// Used by terminal.c:

// Relays input from now on. Sets the user's terminal to raw mode unless other programs use it.
void terminal_relay_begin_input(struct terminal *terminal);
// Stops to relay input and restores the saved modes.
void terminal_relay_end_input(struct terminal *terminal);
// Returns whether the terminal relay would forward input, but claudebox is not in the foreground,
// or another program has changed the modes.
bool terminal_relay_waits_for_input(const struct terminal *terminal);
// Writes the output that the box has written before it was stopped.
void terminal_relay_drain(struct terminal *terminal);

// What the agent may have left on the terminal.
struct relay_marks {
	bool needs_reset; // it has set a mode or requested an answer
	bool answers;     // the terminal is known to answer
	struct terminal_used used;
	bool no_input;        // nothing that it has written becomes input
	int64_t query_age_ms; // time since the last query; -1: none
};
// Returns the marks, and begins new ones.
struct relay_marks terminal_relay_take_marks(struct terminal *terminal);
// Returns how many sequences of each class were dropped; NULL: no terminal relay.
const unsigned int *terminal_relay_dropped(const struct terminal *terminal);
// Returns the classes that pass.
unsigned int terminal_relay_allowed(const struct terminal *terminal);
// Writes the rest of the output and closes the pseudo-terminal.
void terminal_relay_close(struct terminal *terminal);
