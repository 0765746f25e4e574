// SPDX-License-Identifier: MIT
// The report at the end of a session, as data.
#pragma once

#include "base/arena.h"
#include "plan/report/change.h"
#include "plan/report/discarded.h"
#include "plan/report/executed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A file that the guard moved to quarantine.
struct report_moved {
	const char *path;
	const char *id; // of the item; NULL: it is not known
};

// What a session did to an operation of git that takes more than one command.
enum operation_change {
	OPERATION_STARTED, // and left unfinished
	OPERATION_CONTINUED,
	OPERATION_ENDED, // it was in progress at the start
	OPERATION_CHANGE_COUNT,
};
// The names in JSON.
extern const char *const operation_change_names[OPERATION_CHANGE_COUNT];

// A branch or tag that the session created, moved or deleted.
struct report_ref {
	const char *name; // "refs/heads/main"
	bool created;
	bool deleted;
	const char *before; // object, NULL: it is new
	const char *after;  // NULL: it is deleted
	bool counted;       // the numbers are known
	size_t gained;      // commits
	size_t lost;
};

// An operation of git, such as a merge.
struct report_operation {
	const char *name;
	enum operation_change change;
};
typedef VEC(struct report_operation) report_operations;

// What a session did to a repository in the project, or to a submodule.
enum repository_change {
	REPOSITORY_REMOVED,
	REPOSITORY_CREATED,
	REPOSITORY_CHANGED, // its branches or HEAD
	REPOSITORY_CHANGE_COUNT,
};
// The names in JSON.
extern const char *const repository_change_names[REPOSITORY_CHANGE_COUNT];

struct report_repository {
	const char *path; // relative to the project
	enum repository_change change;
};

// Changes of repositories that are reported, and that no undo takes back.
struct repository_changes {
	VEC(struct report_repository) nested; // in the project, and submodules
	bool created;                         // the project has become a repository
	strings stashes;                      // commits of those that were dropped
	strings hooks;                        // paths of those that were changed
};

struct report {
	int64_t started_ms; // since 1970, 0: the session is not known
	int64_t ended_ms;
	size_t left_out;        // files and nested repositories that could not be saved
	strings left_out_paths; // the first of them; that of a repository ends with a slash
	VEC(struct report_moved) moved;
	executed_files executed;
	size_t executed_count; // of all; `executed` may have fewer
	file_changes files;
	size_t file_count; // of all
	size_t added;      // lines
	size_t removed;
	VEC(struct report_ref) refs; // those that lost commits first
	size_t commits;
	report_operations operations;
	struct repository_changes other;
	strings settings; // of git that the guard applied outside
	struct discarded discarded;
	const char *network; // refused connections as a line, NULL: none
	const char *tier;
	const char *refused; // the same as JSON, NULL: not counted
	const char *resume;  // id of the conversation, NULL: none
	int status;
	bool saved;           // the changes are known, and --diff and --undo work
	bool killed;          // claudebox was: `files` may have changes of the user
	bool counted;         // `added` and `removed` are known
	bool repository_lost; // it was removed or damaged
	bool index_changed;   // what is staged
	// Not in the JSON: what --report finds out when it is started.
	bool snapshots_removed;
	bool later_killed; // claudebox was, in a session after this one
};
