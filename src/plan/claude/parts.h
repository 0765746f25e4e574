// SPDX-License-Identifier: MIT
// Mounts directories with secrets in them entry by entry: the user's Claude files and the company's
// policy.
#pragma once

#include "base/arena.h"
#include "plan/claude/files.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Mounts a file or directory of the host at `base`/`name`, by its parts if there are some. Returns
// whether the box gets any of it.
bool plan_add_claude_file(struct plan *plan, struct arena *arena, const claude_parts *parts,
			  const struct followed *file, const char *base, const char *why);

// Mounts the company's policy.
void plan_build_policy(struct plan *plan, struct arena *arena, const struct facts *facts);

// Warns about the parts that are left out or changed. `what` names the whole.
void plan_warn_claude_parts(struct plan *plan, struct arena *arena, const claude_parts *parts,
			    const char *what);
