// SPDX-License-Identifier: MIT
// Copies of git configurations that a box may write, and the changes of them that reach the host.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stdint.h>

// What killed launches of a project left in its instance.
struct copies_left {
	int64_t since_ns; // start of the first of them, 0: there is none
	strings places;   // that were protected in their boxes
};

// What the user is told about the copies of a launch.
struct copies_told {
	strings notes;   // sentences
	strings applied; // names of settings that concern the user
};

// Applies the copies that killed launches of a project left in its instance, and removes them.
// Stores sentences for the user.
struct copies_left copies_recover(const char *path, const char *project, struct arena *arena,
				  strings *ret_notes);
// Creates the directory for the copies of a launch. *ret_lock is the descriptor of its lock, -1:
// there is none. Returns false with an error on failure.
bool copies_prepare(const struct plan *plan, int *ret_lock, struct error *error);
// Writes the copies, before the agent starts. Returns false with an error on failure.
bool copies_write(const struct plan *plan, struct arena *arena, struct error *error);
// Applies the harmless changes of the box to the host's files, and removes the copies. Stores
// which of them concern the user, and sentences about the others.
void copies_apply(const struct plan *plan, struct arena *arena, struct copies_told *ret_told);
