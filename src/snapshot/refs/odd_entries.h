// SPDX-License-Identifier: MIT
// Looks for entries of a git directory that git itself never makes.
#pragma once

#include "base/error.h"

#include <stdbool.h>

// Returns false with an error if references or reflogs of a repository have a symbolic link or a
// special file among them: git would write through a link, and wait for a FIFO.
bool odd_entries_refuse(const char *git_directory, struct error *error);
