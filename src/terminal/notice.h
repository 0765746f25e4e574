// SPDX-License-Identifier: MIT
// Shows a line on the user's terminal while the box uses it.
#pragma once

#include "terminal/terminal.h"

#include <stdbool.h>
#include <stddef.h>

// Returns the columns that a notice can take. The last column of the screen stays free: erasing the
// rest of the row would erase the character in it.
size_t terminal_notice_columns(const struct terminal *terminal);
// Shows a line at the top of the screen, cut at these columns, without moving the cursor. `line`
// is one line of printable characters. Returns false if output of the box is waiting, or claudebox
// does not have the foreground: the line would be lost, or would break a sequence of the box.
bool terminal_notice(const struct terminal *terminal, const char *line);
