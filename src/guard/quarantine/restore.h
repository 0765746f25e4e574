// SPDX-License-Identifier: MIT
// Puts an item of the quarantine back to its place.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "guard/quarantine/quarantine.h"

#include <stdbool.h>
#include <stddef.h>

// How an item was put back.
struct restored {
	bool in_part;    // its settings were added to the file at its place
	size_t settings; // number of them
};

// Returns false with an error if an item cannot be put back: its place is taken, or its directory
// lies behind a link, or is missing outside of the project.
bool restore_check(int quarantine, const char *project, const struct quarantined *item,
		   struct error *error);
// Puts an item back. The caller holds the lock of the instance. If the place of a copied item has a
// file, only the refused settings of the item are added to it. Returns false with an error; the
// item is then still in the quarantine.
bool restore_item(int quarantine, const char *project, const struct quarantined *item,
		  struct restored *ret, struct error *error);
