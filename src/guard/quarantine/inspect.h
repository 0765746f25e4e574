// SPDX-License-Identifier: MIT
// Reads an item of the quarantine, and what is at its place now.
#pragma once

#include "base/arena.h"
#include "guard/quarantine/quarantine.h"
#include "render/difference.h"
#include "render/quarantine.h"

#include <stddef.h>

// Returns why the directory of a path cannot be reached without following a link, escaped for
// display; NULL: it can be, or it is missing in the project and can be created.
const char *inspect_obstacle(struct arena *arena, const char *project, const char *path);
// Where the items are.
struct inspection {
	struct arena *arena;
	const char *project;
	int quarantine;
	const char *path; // of the quarantine
	size_t budget;    // entries of directories that may still be counted
};

// Reads a bounded part of an item and of the file at its place. Follows no link and never blocks.
struct quarantine_row inspect_item(struct inspection *inspection, const struct quarantined *item,
				   size_t number);
// Adds the size of the files of an item.
void inspect_add_size(struct inspection *inspection, const struct quarantined *item,
		      struct sample *sum);
