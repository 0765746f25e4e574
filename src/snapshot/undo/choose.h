// SPDX-License-Identifier: MIT
// Chooses the session that --undo takes back.
#pragma once

#include "base/error.h"
#include "snapshot/command.h"
#include "snapshot/session.h"
#include "snapshot/undo/plan.h"

#include <stdbool.h>

// Chooses the record and plans its steps. `now` is the tree of the project's present state. After
// an undo of some paths, the rest of the session comes first.
bool undo_choose(struct snapshot_command *command, const session_list *list, const char *now,
		 undo_steps *ret_steps, struct error *error);
// Returns whether something can be taken back.
bool undo_any_possible(const undo_steps *steps);
