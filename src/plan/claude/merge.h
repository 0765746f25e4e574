// SPDX-License-Identifier: MIT
// Merges members of the host's JSON files with the box's own.
#pragma once

#include "base/json.h"

// Returns a new object: a member that the box has not changed since the last start gets the host's
// value, and the box keeps the others. `base` is the host's object of the last start. Each may be
// NULL; without a box's object, the result is the host's.
json_t *merge_members(const json_t *base, const json_t *host, const json_t *box);
