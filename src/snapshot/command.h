// SPDX-License-Identifier: MIT
// What --diff and --undo have in common.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/report/change.h"
#include "snapshot/session.h"
#include "snapshot/store.h"

#include <stdbool.h>
#include <stdint.h>

enum { MOST_PATHS = 200 };

// A command and what it works on.
struct snapshot_command {
	const struct config *config;
	struct facts *facts;
	struct arena *arena;
	struct plan_undo undo;
	struct store store;
	strings paths; // relative to the project; none: all
	const struct session_record *record;
	struct text modes;  // permissions of the files before an undo
	bool partial;       // something of the record is left
	bool completed;     // an undo that was killed
	int64_t unsaved_ms; // when the last session began that was not saved, 0: there was none
};

// Finds the project and its snapshots, and reads the paths of the command line.
bool command_prepare(struct snapshot_command *command, struct error *error);
// Returns false with the error that there is no session.
bool command_refuse_nothing(const struct snapshot_command *command, struct error *error);
// Returns the named paths that are not among the changes, as "'a', 'b'"; NULL: there are none.
const char *command_find_unchanged(const struct snapshot_command *command,
				   const file_changes *changes);
// Returns the sentence that a later session than the record was not saved, NULL: there was none.
const char *command_say_unsaved(const struct snapshot_command *command);
// Returns a time for people.
const char *command_show_time(struct arena *arena, int64_t ms);
