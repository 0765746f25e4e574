// SPDX-License-Identifier: MIT
// Collects facts about the files that arguments of claude name.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"

// Adds a requested mount for each file and directory that an argument of claude names, and a note
// for each file with a secret.
void probe_arguments(struct facts *facts, struct arena *arena, const struct config *config);
// Adds a note if a file contains something like a secret. `who` names the file.
void probe_argument_secret(struct agent_facts *agent, struct arena *arena, const char *path,
			   const char *real, const char *who);
