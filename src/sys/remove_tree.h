// SPDX-License-Identifier: MIT
// Removes a tree that somebody else made.
#pragma once

#include "base/error.h"

#include <stdbool.h>

// Removes a directory with everything in it, whatever that is; never what a link leads to. What is gone is no error.
bool remove_tree(int parent, const char *name, struct error *error);
