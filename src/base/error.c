// SPDX-License-Identifier: MIT
// Errors as values: set by the function that fails, printed by the caller.
#include "base/error.h"

#include "base/arena.h"

bool error_set(struct error *error, const char *message, ...)
{
	va_list args;

	va_start(args, message);
	error->message = arena_vprintf(error->arena, message, args);
	va_end(args);
	if (!error->status)
		error->status = EXIT_NOT_STARTED;
	return false;
}

bool error_note(struct error *error, const char *note)
{
	error->note = note;
	return false;
}

bool error_hint(struct error *error, const char *hint, ...)
{
	va_list args;

	va_start(args, hint);
	error->hint = arena_vprintf(error->arena, hint, args);
	va_end(args);
	return false;
}
