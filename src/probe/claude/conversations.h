// SPDX-License-Identifier: MIT
// Finds the conversations of plain claude on the host that belong to this project.
#pragma once

#include "base/arena.h"
#include "config/config.h"
#include "plan/facts.h"

// Fills facts->conversations, if the configuration or the missing answer of the user requires it.
// Needs the facts about the user's Claude directory and about the instance.
void probe_conversations(struct facts *facts, struct arena *arena, const struct config *config);
