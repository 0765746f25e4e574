// SPDX-License-Identifier: MIT
// Removes secrets from settings of toolchain managers.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

// Returns settings without lines that look like secrets. `sections`: of TOML, the tables that are
// kept, "." for the lines before the first one; keys and tables of variables are not. NULL: any
// text. Stores whether a line is missing.
const char *toolchain_clean_settings(struct arena *arena, const char *text, const char *sections,
				     bool *ret_shortened);
// Returns lines NAME=value without addresses that have a login, a path or a query.
const char *toolchain_clean_variables(struct arena *arena, const char *text, bool *ret_shortened);
