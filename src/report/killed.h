// SPDX-License-Identifier: MIT
// Finds sessions without a report, because claudebox was killed.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

// Returns whether claudebox was killed in a session that started after a time since 1970.
// `snapshots`: the path of the project's snapshots.
bool killed_since(struct arena *arena, const char *snapshots, int64_t time_ms);
