// SPDX-License-Identifier: MIT
// Claude's own JSON files: which of the user's settings come along, and the answers to first-run questions.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Is this text a JSON object?
bool settings_valid(const char *text);

// The host's settings without what must not or cannot work in the box; notes say what was left out.
// NULL when there are none.
const char *settings_filter(struct arena *arena, const struct plan *plan, const struct facts *facts,
			    strings *notes);

// These settings with Claude's own sandbox switched off; NULL when they are no JSON object. The text may be NULL.
const char *settings_without_sandbox(struct arena *arena, const char *text);

// The instance's settings.json: a key that the box never changed follows the host's, others stay.
// `base` is what the host had at the last launch. Each may be NULL. NULL when nothing is to change.
const char *settings_merge(struct arena *arena, const char *base, const char *host_settings,
			   const char *box_settings);

// The bare command words that hooks in these settings start with, to be looked for on PATH.
strings settings_command_words(struct arena *arena, const char *text);

// "server: NAME" for each literal secret in the env blocks of a settings or MCP file.
void settings_find_secrets(struct arena *arena, const char *file, const char *text, strings *found);
