// SPDX-License-Identifier: MIT
// Which places of the project git tracks, compared with the last start.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"
#include "plan/guard/record.h"
#include "probe/git/tracked.h"

#include <stdbool.h>
#include <stdint.h>

// The record of the last start.
struct last_start {
	bool known;
	int64_t time_ns;
	struct guard_record record;
};
struct last_start probe_last_start(const struct facts *facts, struct arena *arena);
// Returns whether git tracked a place at the last start.
bool probe_was_tracked(const struct last_start *last, const char *relative);
// Adds a tracked place, once.
void probe_add_tracked(struct facts *facts, struct arena *arena, const char *relative);
// Adds all places in the index, in any directory. `prefix`: of the project in its worktree. If the
// index cannot be read, those of the last start take its place.
void probe_add_tracked_places(struct facts *facts, struct arena *arena, const char *prefix,
			      const struct tracked *tracked, const struct last_start *last);
// Lists the tracked places that were protected in the last box.
void probe_add_released(struct facts *facts, struct arena *arena, const struct last_start *last);
