// SPDX-License-Identifier: MIT
// Searches the project for files that look like secrets and for secrets in its Claude settings.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Fills facts->project_secrets, by file name only, and facts->project_mcp_secrets. The search is
// limited in depth and in number of entries.
void probe_project_secrets(struct facts *facts, struct arena *arena);
