// SPDX-License-Identifier: MIT
// The snapshots of a session: one before the agent starts, one when the box has ended.
#pragma once

#include "base/arena.h"
#include "base/text.h"
#include "plan/plan.h"
#include "snapshot/session.h"

#include <stdbool.h>
#include <sys/types.h>

struct snapshot {
	const char *id; // of the session, NULL: there is no snapshot
	int session;    // its directory
	int lock;       // of the session
	pid_t pid;      // of the process that saves the project, 0: it has ended
	int result;     // of this process
	bool failed;    // the end could not be saved: the changes are not known
};

#define SNAPSHOT_NONE                                   \
	(struct snapshot)                               \
	{                                               \
		.session = -1, .lock = -1, .result = -1 \
	}

// Starts to save the project, beside the start of the box. A failure ends nothing: the session
// cannot be taken back then, and the user is told.
void snapshot_start(struct snapshot *snapshot, const struct plan *plan, struct arena *arena);
// Waits until the project is saved. Tells the user if it cannot be.
void snapshot_wait(struct snapshot *snapshot, const struct plan *plan, struct arena *arena);
// Saves the project again, and writes the record of the session. Returns whether the session has
// changed something. If it has changed nothing that an undo can take back, nothing is written, and
// the record has no trees.
// The session was saved at its start, if snapshot->id is set.
bool snapshot_finish(struct snapshot *snapshot, const struct plan *plan, struct arena *arena,
		     struct session_record *ret_record);
// Removes the snapshot of a session whose agent has not started.
void snapshot_abort(struct snapshot *snapshot, const struct plan *plan, struct arena *arena);
// Brings the index of the open snapshots up to date. Completes sessions that were killed.
// `wanted` (may be NULL): files that are saved even if git ignores them. *ret_modes (may be NULL)
// is for modes_write().
bool snapshot_refresh(const struct store *store, const struct plan_undo *undo,
		      const strings *wanted, struct text *ret_modes, struct error *error);
