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

struct report {
	int64_t started_ms; // since 1970, 0: the session is not known
	int64_t ended_ms;
	int status;
	bool saved;             // the changes are known, and --diff and --undo work
	size_t left_out;        // files and nested repositories that could not be saved
	strings left_out_paths; // the first of them; that of a repository ends with a slash
	bool killed;            // claudebox was: `files` may have changes of the user
	VEC(struct report_moved) moved;
	executed_files executed;
	size_t executed_count; // of all; `executed` may have fewer
	file_changes files;
	size_t file_count; // of all
	size_t added;      // lines
	size_t removed;
	bool counted;                // `added` and `removed` are known
	VEC(struct report_ref) refs; // those that lost commits first
	bool repository_lost;        // it was removed or damaged
	size_t commits;
	struct discarded discarded;
	const char *network; // refused connections as a line, NULL: none
	const char *tier;
	const char *refused; // the same as JSON, NULL: not counted
	const char *resume;  // id of the conversation, NULL: none
};
