// SPDX-License-Identifier: MIT
// Tells names that people choose from random text.
#pragma once

#include <stddef.h>

// Returns the number of characters in groups that do not read like a word, a number or a version. A
// group consists of letters and digits.
size_t odd_characters(const char *text, size_t length);
