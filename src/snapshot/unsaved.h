// SPDX-License-Identifier: MIT
// Remembers that a session ran without a snapshot.
#pragma once

#include "base/arena.h"
#include "snapshot/store.h"

#include <stdint.h>

// Notes that a session starts which is not saved. `path`: of the snapshots, NULL: nothing is noted.
void unsaved_note(const char *path, struct arena *arena);
// Returns when the last such session began, in milliseconds since 1970; 0: there was none.
int64_t unsaved_read(const struct store *store, struct arena *arena);
