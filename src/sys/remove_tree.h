// SPDX-License-Identifier: MIT
// Removes directory trees with untrusted content.
#pragma once

#include "base/error.h"

#include <stdbool.h>

// Removes a directory and everything in it. Follows no links and enters no mount points. A missing
// directory is not an error.
bool remove_tree(int parent, const char *name, struct error *error);
