// SPDX-License-Identifier: MIT
// Finds claude and what it cannot do without: an ELF file, a cli.js with its node, or a wrapper script around one.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

void probe_agent(struct agent_facts *agent, struct arena *arena, const struct facts *facts);
