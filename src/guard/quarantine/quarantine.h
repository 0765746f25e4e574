// SPDX-License-Identifier: MIT
// The quarantine: a directory of the instance with the items that were moved out of a project.
#pragma once

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

// An item of the quarantine.
struct quarantined {
	const char *id;   // name of its directory
	const char *path; // where it was
	const char *why;  // what the host does with it
	int64_t moved_ms; // since 1970
	bool copied;      // the place kept a harmless version
};
typedef VEC(struct quarantined) quarantine_items;

// Opens the quarantine of an instance, and creates it if it is missing. Returns -1 with an error.
int quarantine_open(const char *instance, struct error *error);
// Does the same for an open instance.
int quarantine_open_at(int instance, struct error *error);
// Opens the quarantine of an instance. Returns -1 with errno.
int quarantine_find(const char *instance);
// Moves directory/name into the quarantine. Follows no link. `path` is its path on the host.
// Returns the id of the item, NULL with errno on failure; ENOENT: the item is gone.
const char *quarantine_move(int quarantine, struct arena *arena, int directory, const char *name,
			    const char *path, const char *why, bool copied);
// Lists the items, the oldest first. Reads nothing that a box has written but the items' kinds.
quarantine_items quarantine_list(int quarantine, struct arena *arena);
// Removes what is left of items that were being moved when a process was killed. The caller holds
// the lock of the instance.
void quarantine_clean(int quarantine, struct arena *arena);
