// SPDX-License-Identifier: MIT
// Compares the files of the project with the index of the snapshots, without git.
#pragma once

#include "base/arena.h"
#include "base/text.h"
#include "snapshot/store.h"
#include "snapshot/take/path_set.h"

#include <stdint.h>

struct scan {
	struct path_set known; // the paths of the index
	struct text changed;   // those that git has to look at, each with a NUL
	struct text doubtful;  // those of them that git would take to be unchanged
	struct text modes;     // of the others, for modes_write()
	strings repositories;  // directories of these files that have a .git, not the project
};

// Compares all files. Those that it has not reached at `until_ms` of CLOCK_MONOTONIC count as
// changed.
struct scan scan_index(const struct store *store, struct arena *arena, int64_t until_ms);
