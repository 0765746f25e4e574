// SPDX-License-Identifier: MIT
// Requested packages: those that the repository lists in .claudebox/tools.txt.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// Asks the user about the requested packages, unless this list was answered before. Adds them to
// the configuration if the answer is yes. Sets *ret_record to a new answer that is to be stored,
// NULL if there is none. Returns false with an error if the user cannot be asked.
bool resolve_requested_packages(struct config *config, struct facts *facts, struct arena *arena,
				const char **ret_record, struct error *error);
