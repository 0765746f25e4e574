// SPDX-License-Identifier: MIT
// Refuses two options of which each chooses what claudebox does.
#pragma once

#include "base/error.h"
#include "config/options/table.h"

#include <stdbool.h>

// The options of this kind that were read so far. All NULL before the first one.
struct modes {
	const struct option_row *action;  // what claudebox does in place of starting a box
	const struct option_row *payload; // what runs in the box
};

// Notes an option. Returns false with an error if another one of its kind was given.
bool modes_add(struct modes *modes, const struct option_row *row, struct error *error);
