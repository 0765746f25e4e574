// SPDX-License-Identifier: MIT
// Takes back what a session changed in the project's repository: references, HEAD and the index.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "snapshot/refs/plan.h"
#include "snapshot/session.h"
#include "snapshot/store.h"

#include <stdbool.h>

// Keeps the present state of the repository with the session record `id` of the undo.
bool refs_save(const struct store *store, const struct refs_undo *undo, const char *id,
	       struct error *error);
// Restores references and index. Values that are lost stay under refs/claudebox/ID/. Returns false
// with an error if nothing was changed.
bool refs_undo(const struct store *store, const struct refs_undo *undo, const char *id,
	       struct error *error);
// Restores references and index as they were before refs_undo().
void refs_redo(const struct store *store, const struct refs_undo *undo, const char *id,
	       struct arena *arena);
// Restores what an undo has changed that was killed in refs_undo(), after refs_save(). What the
// user has changed since stays.
void refs_roll_back(const struct store *store, const char *git_directory, const char *id,
		    const struct session_record *of, struct arena *arena);
// Completes an undo that was killed. Stores the state of the repository before it.
bool refs_recover(const struct store *store, const char *git_directory, const char *id,
		  const struct session_record *of, struct refs_undo *ret_undo, struct error *error);
