// SPDX-License-Identifier: MIT
// Holds back the signals that would end claudebox in the middle of an undo.
#pragma once

#include <signal.h>
#include <stdbool.h>

// The mask of signals before.
struct interrupt {
	sigset_t before;
};

// Holds back SIGINT, SIGTERM, SIGHUP and SIGQUIT. git does not receive those of the terminal: it
// has a process group of its own.
struct interrupt interrupt_hold(void);
// Returns whether one of them is waiting, and was held back by interrupt_hold().
bool interrupt_is_pending(void);
// Discards those that wait, and lets later ones through. Returns whether there was one.
bool interrupt_release(const struct interrupt *interrupt);
