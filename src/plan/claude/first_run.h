// SPDX-License-Identifier: MIT
// Answers Claude's first-run questions in the instance's .claude.json.
#pragma once

#include "base/arena.h"
#include "plan/claude/merge.h"

#include <stdbool.h>

// The user's reduced account file (plan/mcp/account.h). Each text may be NULL.
struct first_run_account {
	const char *base; // of the last start
	const char *host;
	const char *root; // of the project
	enum merge_mode mode;
};

// Returns the text of the instance's .claude.json with the first-run questions answered for
// `project` and the user's preferences and servers merged, or NULL when nothing changes. `existing`
// is its present text; it and `user` may be NULL. Approvals of API keys other than `api_key` (NULL:
// none) are removed, except with MERGE_ADDED. `approve`: approve that one, if it is long enough.
const char *first_run_render(struct arena *arena, const char *existing,
			     const struct first_run_account *user, const char *project,
			     const char *api_key, bool approve);
// Returns whether an API key is long enough to be approved by its last characters.
bool first_run_approves(const char *api_key);
