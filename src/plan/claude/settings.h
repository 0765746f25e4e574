// SPDX-License-Identifier: MIT
// Filters the user's Claude settings for the box, and merges them with the box's own.
#pragma once

#include "base/arena.h"
#include "plan/claude/merge.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Returns whether a text, which may be NULL, is a JSON object.
bool settings_valid(const char *text);

// Returns the host's settings without secrets and without what cannot run in the box, or NULL when
// there are none. Adds a note for each removed part, and a row to plan->left_out for each command
// that cannot run. The mounts and the variables of the plan must be complete.
const char *settings_filter(struct plan *plan, struct arena *arena, const struct facts *facts,
			    strings *notes);

// Returns these settings, in one line, with Claude's own sandbox switched off; NULL when the text
// is not a JSON object. NULL stands for empty settings.
const char *settings_without_sandbox(struct arena *arena, const char *text);

// Returns whether settings can switch Claude's own sandbox on: they mention it and do not switch it
// off, or cannot be read.
bool settings_enable_sandbox(const char *text);

// Keys with a command that runs in the box.
extern const char *const command_settings[];
extern const size_t command_setting_count;

// A command in settings.
struct settings_command {
	const char *kind; // "hook", "statusLine"
	const char *command;
};
typedef VEC(struct settings_command) settings_commands;
// Returns what such a command is if the box lacks it.
enum left_out_kind settings_command_kind(const char *key);
// Returns the commands of settings, which may be NULL.
settings_commands settings_list_commands(struct arena *arena, const char *text);

// Returns the text of the instance's settings.json: a key that the box has not changed gets the
// host's value, and the box keeps the others. `base` are the host's filtered settings of the last
// start. Each may be NULL. Returns NULL when nothing changes.
const char *settings_merge(struct arena *arena, enum merge_mode mode, const char *base,
			   const char *host_settings, const char *box_settings);
// Returns the base of the next merge, NULL: unchanged.
const char *settings_next_base(struct arena *arena, enum merge_mode mode, const char *base,
			       const char *host_settings);

// Adds what the probe has to look for in the commands of these settings: names of programs, and
// absolute paths.
void settings_add_words(struct arena *arena, const char *home, const char *text, strings *words);

// Adds "file: server: NAME" for each literal secret in the environment and headers of a settings or
// MCP file, and "file: PATH" for each other one.
void settings_find_secrets(struct arena *arena, const char *file, const char *text, strings *found);
