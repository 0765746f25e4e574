// SPDX-License-Identifier: MIT
// Asks about what the repository asks for (EXT-01), once, and again when it changes.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// What the repository asks for becomes part of the configuration when the user has said yes to it, now or before.
// `ret_record` gets an answer to keep.
bool resolve_requested_packages(struct config *config, struct facts *facts, struct arena *arena,
				const char **ret_record, struct error *error);
