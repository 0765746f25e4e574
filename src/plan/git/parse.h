// SPDX-License-Identifier: MIT
// Parser for git configuration files, with the whole syntax of git-config(1).
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

// Handles one entry. The name is that of `git config --list`: "core.worktree", "remote.X.url", with
// the section and the key in lower case. `value` is NULL for a key without "=", which means true.
typedef void (*git_config_handler)(void *context, const char *name, const char *value);

// Parses the text of a git configuration file and calls `handle` for each entry. An include is an
// entry like any other. Returns false at the first error, with the number of the line; git refuses
// to work with such a file.
bool git_config_parse(struct arena *arena, const char *text, git_config_handler handle,
		      void *context, size_t *ret_line);
