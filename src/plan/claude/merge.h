// SPDX-License-Identifier: MIT
// Merges members of the host's JSON files with the box's own.
#pragma once

#include "base/json.h"

enum merge_mode {
	MERGE_ALL,   // what the host has added, changed and removed
	MERGE_ADDED, // only what it has added: another box uses the file
};

// Returns a new object: a member that the box has not changed since the last start gets the host's
// value, and the box keeps the others. `base` is the host's object of the last start. Each may be
// NULL; without a box's object, the result is the host's.
json_t *merge_members(enum merge_mode mode, const json_t *base, const json_t *host,
		      const json_t *box);
// Returns the base of the next merge, a new object: the host's, or with MERGE_ADDED the present one
// with what the host has added. So the rest counts as changed again at the next start.
json_t *merge_base(enum merge_mode mode, const json_t *base, const json_t *host);
