// SPDX-License-Identifier: MIT
// The journal of an undo: the steps that a killed one has still to do.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/report/change.h"
#include "snapshot/store.h"

#include <stdbool.h>

// In the directory of the snapshots.
#define UNDO_JOURNAL "undo.json"

// What an undo that was killed is completed with.
struct undo_journal {
	const char *id;  // of the session record that the undo gets, NULL: there is none
	const char *of;  // the session whose changes it takes back
	const char *now; // tree of the project before the undo
	bool undecided;  // references are being changed, and no file yet: it is rolled back
};

// Writes the journal, after all files are on the stage.
bool journal_write(const struct store *store, const file_changes *changes,
		   const struct undo_journal *journal, struct error *error);
// Parses it. Returns false if it is none.
bool journal_parse(struct arena *arena, const char *text, struct undo_journal *ret_journal,
		   file_changes *ret_changes);
