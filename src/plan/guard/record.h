// SPDX-License-Identifier: MIT
// The record of what was protected in the last box of a project, and what was writable.
//
// Git tracks what a box adds to its index, and tracked files are writable. So a box can make a
// protected file writable for the next one, and the next start has to say so. The record is in the
// instance, out of the reach of boxes; its time of change is that of the last start.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

struct guard_record {
	strings tracked;     // relative to the project
	strings protected;   // the same
	strings unprotected; // absolute exceptions of the user
};

// Returns the file name of the record in the instance: one for each worktree.
const char *guard_record_name(struct arena *arena, const struct facts *facts);
// Renders the record of a box.
const char *guard_record_render(struct arena *arena, const struct plan *plan);
// Parses a record, NULL: there is none. Ignores lines that are not known.
struct guard_record guard_record_parse(struct arena *arena, const char *text);
