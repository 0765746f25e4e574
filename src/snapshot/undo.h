// SPDX-License-Identifier: MIT
// Takes back what a session changed: the steps, their execution, and what a killed one left.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/report/change.h"
#include "snapshot/changes.h"
#include "snapshot/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
// What an undo that was killed is completed with.
struct undo_journal {
	const char *id;  // of the session record that the undo gets, NULL: there is none
	const char *of;  // the session whose changes it takes back
	const char *now; // tree of the project before the undo
};

// Takes back all possible steps. Nothing is changed if that fails. The lock of the store and that
// of the instance are held.
bool undo_apply(const struct store *store, const undo_steps *steps,
		const struct undo_journal *journal, struct error *error);
// Completes an undo that was killed. The same locks are held.
bool undo_recover(const struct store *store, struct undo_journal *ret_journal, struct error *error);
