// SPDX-License-Identifier: MIT
// The npm package of Claude Code.
#pragma once

#include "base/arena.h"

// Returns the directory of Claude's npm package if it contains a file, or NULL. Any other package,
// such as the repository around a script, is not mounted.
const char *probe_npm_package(struct arena *arena, const char *file);
// Adds a sentence for each file directly in the package that is a secret by its name.
void probe_npm_package_secrets(struct arena *arena, const char *package, strings *notes);
