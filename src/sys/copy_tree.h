// SPDX-License-Identifier: MIT
// Copies what somebody else made: plain files and directories, nothing else, and nothing through a link.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Copies a file or directory, but no links and nothing special; what is there already stays. `part` is a directory for
// unfinished files, `left` grows by what was not copied. False with errno.
bool copy_tree(int from, int to, const char *name, int part, size_t *left);
