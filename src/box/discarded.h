// SPDX-License-Identifier: MIT
// Looks at the files that were in the memory of the box when it ended.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"
#include "plan/report/discarded.h"

// Directories of the box that are in memory. They can be read after the end of the box. -1: the
// directory is not in memory, or could not be opened.
struct discarded_places {
	int temporary;       // /tmp
	int other_temporary; // /var/tmp
	int shared_memory;   // /dev/shm
	int home;
};

#define DISCARDED_PLACES_NONE                                                            \
	(struct discarded_places)                                                        \
	{                                                                                \
		.temporary = -1, .other_temporary = -1, .shared_memory = -1, .home = -1, \
	}

// Opens the directories. The caller is in the mount namespace of the box. Allocates nothing.
void discarded_open(struct discarded_places *places, const struct plan *plan);
// Lists the files that remain, without caches.
void discarded_read(const struct discarded_places *places, const struct plan *plan,
		    struct arena *arena, struct discarded *ret);
void discarded_close(struct discarded_places *places);
