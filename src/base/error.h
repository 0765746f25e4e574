// SPDX-License-Identifier: MIT
// Errors are values: filled where they are found, printed once, by main.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

enum exit_status {
	EXIT_CHECK_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_STARTED = 125, // claudebox failed before the agent started
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL_BASE = 128,
};

struct error {
	struct arena *arena;
	const char *message;
	const char *note; // what that means, where the message alone tells a newcomer nothing
	const char *hint; // what to do next
	int status;
};

// All return false, so that a caller can write `return error_set(…)`.
bool error_set(struct error *error, const char *message, ...) __attribute__((format(printf, 2, 3)));
bool error_hint(struct error *error, const char *hint, ...) __attribute__((format(printf, 2, 3)));
bool error_note(struct error *error, const char *note);
