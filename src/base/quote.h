// SPDX-License-Identifier: MIT
// Makes any byte string safe for sh and for a terminal.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// One word of POSIX sh that has exactly this value and holds no control character: those are
// written with printf(1), newlines as "$CLAUDEBOX_NL", which the caller defines when *uses_newline is set.
const char *quote_shell(struct arena *arena, const char *value, bool *uses_newline);
// The same for the body of an unquoted here-document; a newline stays a newline.
const char *quote_here_document(struct arena *arena, const char *value);
// For the screen: no byte of the result can move the cursor, change colours, reorder text or
// start a line. Backslashes are doubled so that an escape cannot be forged. At most `columns`
// wide (0: no limit); what is cut is counted.
const char *quote_display(struct arena *arena, const char *value, size_t columns);
// The same as one word: blanks and commas are marked too, so that it cannot pass for two, or for the text around it.
const char *quote_word(struct arena *arena, const char *value, size_t columns);
// The longest beginning of valid, escaped text that takes no more than `columns`, in bytes; an escape stays whole.
size_t display_fit(const char *text, size_t columns);
// Columns that valid, escaped text takes on a terminal.
size_t display_width(const char *text);
