// SPDX-License-Identifier: MIT
// What looks like a secret (SEC-01): by the name it goes by, by the shape it has, by the file it lies in.
#pragma once

#include <stdbool.h>

// Does this name, or this value, look like a secret? The reason, or NULL.
const char *secret_name(const char *name);
const char *secret_value(const char *value);
// A file of the project that looks like one, by its name.
bool secret_file_name(const char *name);
