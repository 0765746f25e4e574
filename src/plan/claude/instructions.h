// SPDX-License-Identifier: MIT
// Renders the instructions for Claude in the box: what the plan permits and what it leaves out.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Returns the text of /etc/claude-code/CLAUDE.md in the box: the policy of the host's own file, if
// there is one, followed by the description of this plan.
const char *plan_render_instructions(const struct plan *plan, struct arena *arena,
				     const struct facts *facts);
