// SPDX-License-Identifier: MIT
// The arguments of git: which of them is the command.
#pragma once

#include <stdbool.h>

// Returns the command among the arguments of git, NULL: there is none. `arguments` ends with NULL
// and has no name of a program.
const char *find_command(char *const *arguments);

// Returns whether a command is one of git's own that the script does not check. git does not look
// for an alias of such a name.
bool is_plain_command(const char *command);
