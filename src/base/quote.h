// SPDX-License-Identifier: MIT
// Quotes any byte string for sh and for a terminal.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// Returns one word of POSIX sh that evaluates to `value` and contains no control character. Control
// characters are written with printf(1). A newline is written as "$CLAUDEBOX_NL" and sets
// *uses_newline; the caller then defines that variable.
const char *quote_shell(struct arena *arena, const char *value, bool *uses_newline);

// Returns `value` as the body of an unquoted here-document. Newlines and tabs stay as they are.
const char *quote_here_document(struct arena *arena, const char *value);

// Returns `value` for display on a terminal. No byte of the result moves the cursor, changes
// colours, reorders text or starts a line. Backslashes are doubled, so an escape cannot be forged.
// The result is cut after `columns` columns (0: no limit), followed by "... (N bytes)" with the
// length of the value.
const char *quote_display(struct arena *arena, const char *value, size_t columns);

// Returns a line of a file for display. Tabs and backslashes stay as they are.
const char *quote_line(struct arena *arena, const char *line, size_t length);

// Does what quote_display() does for a value in a list: blanks and commas are escaped too, so that
// the value cannot look like two values or like the text around it.
const char *quote_word(struct arena *arena, const char *value, size_t columns);
// Does the same for the name of a program. A plain one with commas is in single quotes: ','.
const char *quote_listed(struct arena *arena, const char *name, size_t columns);
