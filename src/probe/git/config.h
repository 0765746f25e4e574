// SPDX-License-Identifier: MIT
// Reads git's configuration files as far as they are plain, which saves starting git for a name and an e-mail.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Entries of a git configuration file, keys in lower case; false when it is not plain and git must be asked.
bool probe_git_config(struct arena *arena, const char *text,
		      void (*take)(void *context, const char *key, const char *value),
		      void *context);
