// SPDX-License-Identifier: MIT
// Secrets in the configuration of a git repository.
#pragma once

#include "base/arena.h"

// Adds a name for each entry of the configuration that contains a secret: remote.origin.url.
// A name never contains the value.
void secret_git_config(struct arena *arena, const char *text, strings *found);
