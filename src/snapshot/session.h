// SPDX-License-Identifier: MIT
// The sessions of a project: what each of them found, and what it left.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"
#include "plan/report/report.h"
#include "snapshot/refs/refs.h"
#include "snapshot/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a session was.
enum session_kind {
	SESSION_BOX,  // a box ran
	SESSION_UNDO, // changes were taken back
	SESSION_KIND_COUNT,
};

struct session_record {
	const char *id; // the name of its directory; ids are in the order of their times
	enum session_kind kind;
	int64_t started_ms; // since 1970
	int64_t ended_ms;
	const char *before; // tree of the project
	const char *after;
	const char *of; // of SESSION_UNDO: the session whose changes were taken back
	bool partial;   // of SESSION_UNDO: only the named paths were taken back
	bool ignored;   // files that git ignores were saved too
	bool killed;    // its end was found later: `after` may have changes of the user
	git_refs refs_before;
	git_refs refs_after;
	git_refs operations_before; // of git that were in progress
	git_refs operations_after;
	const char *index_before; // digest of the entries of git's index, NULL: not known
	const char *index_after;
	strings left_out; // files that could not be saved
	size_t left_out_count;
	struct repository_changes other; // for the report; not kept
};
typedef VEC(struct session_record) session_list;

// Lists the sessions that have ended, in the order of their ends.
session_list session_list_all(const struct store *store, struct arena *arena);
// Writes the record of a session.
bool session_write(const struct store *store, const struct session_record *record,
		   struct error *error);
// Adds the present state of the repository to a record, as that of the end, and that of the index
// at the start.
void session_add_end(const struct store *store, struct arena *arena, const char *git_directory,
		     struct session_record *record);
// Keeps what the start of a session could not save in its directory.
bool session_write_left_out(int session, const strings *paths, size_t count, struct error *error);
// Reads the state of the repository at the start from the directory of a session, and adds what the
// start could not save.
void session_read_start(int session, struct arena *arena, struct session_record *record);
// Notes in the directory of a session that files which git ignores are saved.
bool session_write_ignored(int session, struct error *error);
// Returns whether the last session, or the one that runs, saved files that git ignores.
bool session_saves_ignored(const struct store *store, struct arena *arena);
// Returns a new id.
const char *session_new_id(struct arena *arena);
// Completes the records of sessions whose claudebox was killed: the present state of the project is
// what they left. The lock of the store is held, and the index is up to date.
bool session_recover(const struct store *store, const struct plan_undo *undo, struct error *error);
// Returns the id of a session that was killed and has no record, NULL: there is none.
const char *session_find_killed(const struct store *store, struct arena *arena);
// Removes a session.
void session_remove(const struct store *store, const char *id, struct arena *arena);
// Writes the references of a session, so that its contents stay.
bool session_keep_trees(const struct store *store, const struct session_record *record,
			struct error *error);
// Returns the number of sessions, those that run or were killed included.
size_t session_count(const struct store *store, struct arena *arena);
// Returns the last session; only one of a box if `box`. NULL: there is none.
const struct session_record *session_last(const session_list *list, bool box);
// Returns whether what is staged was changed.
bool session_changed_index(const struct session_record *record);
// Returns whether branches, tags, HEAD or what is staged were changed.
bool session_changed_refs(const struct session_record *record);
