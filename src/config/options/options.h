// SPDX-License-Identifier: MIT
// The command line: options of claudebox; all other words are passed to claude.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"

#include <stdbool.h>

// Fills the configuration from the command line. Returns false with an error on wrong usage.
bool options_parse(struct config *config, struct arena *arena, int argc, char *const *argv,
		   struct error *error);
// Returns the first argument of the command of --exec that is an option of claudebox, NULL: none.
const char *options_misplaced(const struct config *config);
// Checks the options against the whole configuration, after the profile has been applied.
bool options_check(const struct config *config, struct error *error);
