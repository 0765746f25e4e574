// SPDX-License-Identifier: MIT
// Parser for simple git configuration files. It saves the start of git for a name and an e-mail.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Parses the text of a git configuration file and calls `handle` for each entry, with the key in
// lower case ("core.worktree"). Returns false at the first line that this parser does not support;
// git itself must read the file then.
bool git_config_parse(struct arena *arena, const char *text,
		      void (*handle)(void *context, const char *key, const char *value),
		      void *context);
