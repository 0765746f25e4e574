// SPDX-License-Identifier: MIT
// Finds claude and the files that it needs: an ELF file, a cli.js with node, or a wrapper script.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

// Fills `agent` with the command that starts claude and the files that it needs, or with the reason
// why it cannot be started.
void probe_agent(struct agent_facts *agent, struct arena *arena, const struct facts *facts);
