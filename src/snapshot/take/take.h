// SPDX-License-Identifier: MIT
// Brings the index of the snapshots up to date with the files of the project.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "snapshot/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct take {
	const char *git_directory; // of the project's worktree, NULL: there is none
	const char *prefix;        // of the project in that worktree: "" or "sub/"
	bool ignored;              // files that git ignores too
	// The session has ended, and began at this time since 1970: what it has closed is opened
	// for its owner. 0: it has not ended.
	int64_t closed_since_ms;
	// The session whose end this is: files that it hides by ignore rules are saved too.
	const char *session;
	const strings *wanted; // files that are saved even if git ignores them, NULL: none
	int budget_ms;
	// Results.
	bool complete;     // false: the time was over; what was saved speeds up the next time
	struct text modes; // permissions that git does not store, for modes_write()
	strings left_out;  // that cannot be saved: not readable, or too large
	size_t left_out_count;
	strings repositories; // directories in the project, some of which may not have one any more
};

// Saves the files of the project and updates the index. The lock of the store is held. Returns
// false with an error if nothing could be saved.
bool snapshot_take(const struct store *store, struct take *take, struct error *error);
// Writes the tree of an index file (NULL: the index of the store). Returns its id, NULL with an
// error.
const char *snapshot_write_tree(const struct store *store, const char *index, struct error *error);
