// SPDX-License-Identifier: MIT
// The variables of Claude Code that pass into the box, from the user's settings and environment.
#pragma once

#include "base/arena.h"
#include "base/json.h"
#include "config/config.h"
#include "config/names.h"

#include <stdbool.h>
#include <stddef.h>

// Variables of Claude Code without credentials. A row with '*' passes only switches and numbers.
extern const struct variable_row claude_variables[];
extern const size_t claude_variable_count;

// Variables that pass from the settings alone: programs other than Claude Code read those of the
// environment too.
extern const struct variable_row settings_variables[];
extern const size_t settings_variable_count;

// Variables of Claude Code that the box sets and that the settings must not change.
extern const struct variable_row box_variables[];
extern const size_t box_variable_count;

// Returns the row of claude_variables for a variable with this value, NULL: none.
const struct variable_row *claude_variable_find(const char *name, const char *value);
// Returns whether a variable of Claude's settings is in the table of known ones, with a value that
// its row allows.
bool settings_variable_known(const char *name, const char *value);
// Returns whether the value of such a variable is a secret, or an address with a login.
bool settings_variable_secret(const char *name, const char *value);

// Returns whether the user names a variable: in a profile or in CLAUDEBOX_EXTRA_ENV.
bool settings_variable_requested(const struct config *config, const char *name);

// How warnings name the user's settings.
#define SETTINGS_SHOWN "your Claude settings.json"

// Removes from `env` of the settings the variables that are neither known nor named by a profile,
// and those that look like secrets. Adds a note for each reason, with the names.
void settings_filter_variables(struct arena *arena, const struct config *config, json_t *variables,
			       strings *notes);
