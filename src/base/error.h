// SPDX-License-Identifier: MIT
// Errors as values: set by the function that fails, printed by the caller.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

enum exit_status {
	EXIT_CHECK_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_GUARDED = 123,     // the guard ended the box
	EXIT_NOT_STARTED = 125, // claudebox failed before the agent started
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL_BASE = 128,
};

struct error {
	struct arena *arena;
	const char *message;
	const char *note; // explains the message; NULL: none
	const char *hint; // what the user can do; NULL: none
	int status;       // exit status; error_set() sets EXIT_NOT_STARTED if it is 0
};

// All return false, so that the last call can be `return error_hint(…)`. The message is set first.
bool error_set(struct error *error, const char *message, ...) __attribute__((format(printf, 2, 3)));
bool error_hint(struct error *error, const char *hint, ...) __attribute__((format(printf, 2, 3)));
bool error_note(struct error *error, const char *note);
