// SPDX-License-Identifier: MIT
// Asks about the conversations of plain claude on the host, and names the last one of the box.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <time.h>

// Decides which conversations of the host the launch copies, and stores them in plan->state.import:
// those that --import-conversations requests, or that the user accepts. Those with a secret need
// another answer. Returns false with an error if they cannot be read, or if the arguments resume
// one that is not copied.
bool resolve_conversations(const struct facts *facts, struct plan *plan, struct arena *arena,
			   struct error *error);

// Returns the id of the conversation that the box wrote last since `start`, on the clock of files.
// NULL: claude had no screen, or there is none.
const char *conversation_last(const struct plan *plan, struct arena *arena, struct timespec start);
