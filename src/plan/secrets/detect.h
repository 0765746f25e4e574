// SPDX-License-Identifier: MIT
// Detects secrets by the name of a variable, the shape of a value, and the name of a file.
#pragma once

#include <stdbool.h>

// Return why the name or the value counts as a secret, or NULL if it does not.
const char *secret_name(const char *name);
const char *secret_value(const char *value);

// Returns whether a file of that name usually contains secrets.
bool secret_file_name(const char *name);
