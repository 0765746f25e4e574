// SPDX-License-Identifier: MIT
// Which changes of a session can be taken back.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/report/change.h"
#include "snapshot/changes.h"
#include "snapshot/store.h"

#include <stdbool.h>

// Why a path is left as it is.
enum undo_obstacle {
	UNDO_POSSIBLE,
	UNDO_DONE,    // it is already as before the session
	UNDO_CHANGED, // it was changed since the end of the session
	UNDO_OLDER,   // git ignored it before the session, and it is older
	UNDO_BLOCKED, // something that no snapshot has is in the way
	UNDO_OBSTACLE_COUNT,
};
extern const char *const undo_obstacle_names[UNDO_OBSTACLE_COUNT];

struct undo_step {
	struct file_change change; // from the end of the session (after) back to its start (before)
	enum undo_obstacle obstacle;
};
typedef VEC(struct undo_step) undo_steps;

// Finds out which changes can be taken back. `now` is the tree of the project's present state. New
// files that are older than the session stay.
bool undo_plan(const struct store *store, const file_changes *changes, const char *after,
	       const char *now, struct known_files *known, undo_steps *ret_steps,
	       struct error *error);
