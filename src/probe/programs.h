// SPDX-License-Identifier: MIT
// Finds helper programs, and makes sure that nobody but the user and root can have put them there.
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "plan/facts.h"

#include <stdbool.h>
#include <sys/types.h>

// A program, where it was compiled in or on the host's PATH. What a box, or another user, could have put there is passed
// over; `passed_over` (may be NULL) gets a sentence on each.
const char *probe_program(struct arena *arena, const struct facts *facts, const char *name,
			  strings *passed_over);
// What was said about all programs that may be needed.
strings probe_passed_over(struct arena *arena, const struct facts *facts);
// Whether a box of this project, or an earlier one, can write on the way to a file.
bool probe_box_writes(const struct facts *facts, const struct followed *file);
// Whether this user is us, root, or whoever has the system.
bool probe_owner_trusted(const struct facts *facts, uid_t owner);
