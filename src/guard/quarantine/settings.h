// SPDX-License-Identifier: MIT
// The settings of a quarantined git configuration that the file at its place lacks.
#pragma once

#include "base/arena.h"
#include "guard/quarantine/quarantine.h"

#include <stddef.h>
#include <sys/types.h>

struct settings_change {
	size_t count;        // of the settings that are added
	const char *present; // text of the file at the place
	const char *text;    // the same with the settings
	mode_t mode;         // of the file at the place
};

// Computes what putting back a copied item changes in the file at its place. `directory` is that of
// the item, `place` that of the file. Follows no link. Returns NULL, or why it is not possible.
const char *settings_compare(struct arena *arena, const char *project,
			     const struct quarantined *item, int directory, int place,
			     struct settings_change *ret);
