// SPDX-License-Identifier: MIT
// Answers Claude's first-run questions in the instance's .claude.json.
#pragma once

#include "base/arena.h"

// Returns the text of the instance's .claude.json with the first-run questions answered for
// `project` and the user's preferences added, or NULL when nothing changes. `existing` is its
// present text and `preferences` the host's .claude.json; both may be NULL. `api_key`, or NULL, is
// approved for use.
const char *first_run_render(struct arena *arena, const char *existing, const char *preferences,
			     const char *project, const char *api_key);
