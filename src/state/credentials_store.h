// SPDX-License-Identifier: MIT
// The directory of the credentials that all boxes share and can write.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

// Name of the credentials file in the store.
#define CREDENTIALS_FILE ".credentials.json"

// Opens the store. Replaces an entry of its name that is not a directory. Returns -1 with errno if
// a box keeps changing it, or if ~/.claudebox cannot be written.
int credentials_open_store(const struct plan *plan, struct arena *arena);

// Removes entries that would disturb Claude in other boxes: locks that no process renews, and files
// that are neither regular files nor directories. Replaces a store with too many entries. Reports
// everything except old locks. Called with the lock of all supervisors. `root` is ~/.claudebox.
void credentials_clean_store(const struct plan *plan, int root, struct arena *arena);
