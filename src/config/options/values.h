// SPDX-License-Identifier: MIT
// The values of options: what is accepted, and what they change in the configuration.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "config/options/table.h"

#include <stdbool.h>

// Completes an error on the command line: its exit status and a hint. Returns false.
bool option_usage_error(struct error *error);
// Refuses a value that the option does not accept, and a missing one.
bool option_check_value(const struct option_row *row, const char *value, struct error *error);
// Changes the configuration as the option says.
bool option_apply(struct config *config, struct arena *arena, const struct option_row *row,
		  const char *value, struct error *error);
// Returns whether a value of --quarantine is a fixed word, the number of an item, or its id, which
// is two numbers.
bool option_quarantine_word(const char *value);
