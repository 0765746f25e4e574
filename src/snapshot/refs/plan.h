// SPDX-License-Identifier: MIT
// Finds out what a session changed in the project's repository, and whether it can be taken back.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "render/changes.h"
#include "snapshot/refs/refs.h"
#include "snapshot/session.h"
#include "snapshot/store.h"

#include <stdbool.h>

// A reference that the session changed.
struct refs_step {
	const char *name;
	const char *from; // its present value, NULL: it was deleted
	const char *to;   // NULL: it is deleted
	const char *why;  // it is left as it is, NULL: it is restored
};

struct refs_undo {
	const char *git_directory; // NULL: no repository
	const char *store;         // path of the snapshots
	const struct session_record *record;
	git_refs present;
	git_refs operations;
	VEC(struct refs_step) steps;
	strings ended; // operations of git
	bool index;    // it is replaced
};

// Finds out what is restored. Returns false with an error if that is not possible, for example
// because a branch, HEAD or the index was changed since the session.
bool refs_plan(const struct store *store, const char *git_directory,
	       const struct session_record *record, struct refs_undo *ret_undo,
	       struct error *error);
// Returns whether the plan changes something.
bool refs_plan_changes(const struct refs_undo *undo);
// Adds the rows of the plan to a view.
void refs_plan_show(const struct refs_undo *undo, struct arena *arena, struct undo_view *view);
// Returns the directory of a session.
const char *refs_session_path(struct arena *arena, const char *store, const char *id);
