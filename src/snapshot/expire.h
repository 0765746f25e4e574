// SPDX-License-Identifier: MIT
// Removes old sessions, by their number and by the size of the snapshots.
#pragma once

#include "base/arena.h"
#include "snapshot/store.h"

#include <stdint.h>

// Removes sessions, the oldest first, and the contents that only they had. The last one stays. The
// lock of the store is held. `limit`: of all contents, in bytes.
void snapshot_expire(const struct store *store, uint64_t limit, struct arena *arena);
