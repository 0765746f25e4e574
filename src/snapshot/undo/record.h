// SPDX-License-Identifier: MIT
// The record of an undo as a session, and what is done after one that was killed.
#pragma once

#include "base/error.h"
#include "snapshot/command.h"
#include "snapshot/refs/plan.h"
#include "snapshot/session.h"

#include <stdbool.h>

// Returns the session with an id, NULL: there is none.
const struct session_record *undo_find_record(const session_list *list, const char *id);
// Records the undo of session `of`. `before` is the tree of the project before it, and `refs` has
// the repository before it. `killed`: its end is not known, so the present state counts.
bool undo_record(const struct snapshot_command *command, const char *id, const char *of,
		 const char *before, const struct refs_undo *refs, bool killed,
		 struct error *error);
// Completes an undo that was killed, or rolls it back.
bool undo_recover_killed(struct snapshot_command *command, struct error *error);
