// SPDX-License-Identifier: MIT
// The operations of git that are in progress in a repository: merge, rebase, bisect and others.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/report/report.h"
#include "snapshot/refs/refs.h"
#include "snapshot/store.h"

#include <stdbool.h>

// Lists the operations that are in progress: the name of the file that says so, and a value that
// changes when the operation goes on.
git_refs operations_list(struct arena *arena, const char *git_directory);
// Returns false with an error if the operations of the start cannot be restored: one of them has
// gone on or ended, or one was started or has gone on since the end of the session.
bool operations_judge(const git_refs *before, const git_refs *after, const git_refs *present,
		      struct error *error);
// Returns what a session did to operations, each of them once.
report_operations operations_compare(struct arena *arena, const git_refs *before,
				     const git_refs *after);
// Returns what operations_end() ends: "merge" and the like.
strings operations_to_end(struct arena *arena, const git_refs *before, const git_refs *present);
// Ends the operations that were not in progress at the start, as `git merge --quit` does. What they
// stashed stays under refs/claudebox/ID/.
bool operations_end(const struct store *store, const char *git_directory, const char *id,
		    const git_refs *before, struct error *error);
