// SPDX-License-Identifier: MIT
// Plans the instance's files that are merged with the user's: settings.json and .claude.json.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/plan.h"

// Plans the user's settings, preferences and MCP servers that can work in this box. The mounts and
// the variables must be complete.
void plan_build_claude_configuration(struct plan *plan, struct arena *arena,
				     const struct facts *facts);
