// SPDX-License-Identifier: MIT
// Names of files that usually contain secrets.
#pragma once

#include <stdbool.h>

// Returns whether a file of that name usually contains secrets.
bool secret_file_name(const char *name);
// Returns the same for a path: some names mean a secret only in their directory.
bool secret_file_path(const char *path);
