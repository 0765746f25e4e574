// SPDX-License-Identifier: MIT
// Patterns of directories: an absolute path in which '*' stands for any part of one name, and "**"
// for any number of names, none included. Every other byte stands for itself. Purely lexical.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// Returns what is wrong with a pattern that a user wrote, as the end of a sentence that begins with
// it; NULL: nothing. It must begin with "/" or "~/", or be "~".
const char *pattern_problem(const char *pattern);
// Returns whether a path matches a pattern; both are absolute. Takes time proportional to the
// product of their lengths at most.
bool pattern_matches(const char *pattern, const char *path);
// Returns how exact a pattern is: the bytes that are no wildcards decide, and between equals one
// without "**" is more exact.
size_t pattern_weight(const char *pattern);
// Returns the part before the first name with a wildcard, "/" if there is none; stores the rest,
// which is empty or begins with "/".
const char *pattern_beginning(struct arena *arena, const char *pattern, const char **ret_rest);
