// SPDX-License-Identifier: MIT
// Takes back what a session changed: the steps, their execution, and what a killed one left.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "snapshot/store.h"
#include "snapshot/undo/journal.h"
#include "snapshot/undo/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What is done when all files are written beside the project and none is moved yet.
struct undo_middle {
	bool (*run)(void *context, struct error *error); // false: nothing was changed
	void *context;
};

// Takes back all possible steps. No file is changed if that fails. The lock of the store and that
// of the instance are held. The journal stays until undo_end().
bool undo_apply(const struct store *store, const undo_steps *steps, struct undo_journal *journal,
		const struct undo_middle *middle, struct error *error);
// Returns whether an undo was killed.
bool undo_is_pending(const struct store *store);
// Completes the files of an undo that was killed. Stores its journal if undo_end() was not called;
// if that is undecided, no file was changed. The same locks are held.
bool undo_recover(const struct store *store, struct undo_journal *ret_journal, struct error *error);
// Ends an undo that is recorded or rolled back.
void undo_end(const struct store *store);
