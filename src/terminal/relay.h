// SPDX-License-Identifier: MIT
// Terminal relay: the pseudo-terminal of the box, connected to the user's terminal by the terminal
// filter.
#pragma once

#include "base/error.h"
#include "plan/plan.h"
#include "terminal/terminal.h"

#include <poll.h>
#include <stdbool.h>

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
enum { TERMINAL_POLL_SLOTS = 2 };
// Fills in the descriptors and events to poll.
void terminal_relay_prepare_poll(const struct terminal *terminal,
				 struct pollfd slots[TERMINAL_POLL_SLOTS]);
// Relays data according to the events that poll(2) reported.
void terminal_relay_handle_poll(struct terminal *terminal,
				const struct pollfd slots[TERMINAL_POLL_SLOTS]);
// Copies the window size of the user's terminal to the pseudo-terminal.
void terminal_relay_resize(const struct terminal *terminal);

// Used by terminal.c:

// Sets the user's terminal to raw mode and relays its input from now on.
void terminal_relay_set_raw(struct terminal *terminal);
// Restores the saved modes, if the terminal is in raw mode.
void terminal_relay_restore_modes(struct terminal *terminal);
// Returns whether the terminal relay would forward input, but claudebox was not in the foreground
// so far.
bool terminal_relay_in_background(const struct terminal *terminal);
// Writes the rest of the output and closes the pseudo-terminal. Returns true if the agent sent
// sequences that set a mode or request an answer.
bool terminal_relay_close(struct terminal *terminal);
