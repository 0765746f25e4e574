// SPDX-License-Identifier: MIT
// Finds files that a session hides by ignore rules of its own.
#pragma once

#include "base/arena.h"
#include "snapshot/store.h"

#include <stdint.h>

// Lists the files that git ignores now, but not by the rules of the start of a session. `session`:
// the directory of its snapshot; it began at `since_ms`. Stores the directories with too many of
// them.
strings hidden_list(const struct store *store, struct arena *arena, const char *session,
		    int64_t since_ms, strings *ret_left_out);
