// SPDX-License-Identifier: MIT
// What a session changed in repositories, for the report.
#pragma once

#include "base/arena.h"
#include "plan/report/report.h"

#include <stdbool.h>
#include <stddef.h>

// Returns whether a session changed something in a repository that is not a file or a commit.
bool render_has_repository_changes(const struct report *report);
// Returns the changes as parts of a sentence; at most `most` branches and tags, and as many
// repositories, are named. NULL: there are none.
const char *render_repository_changes(struct arena *arena, const struct report *report,
				      size_t most);
