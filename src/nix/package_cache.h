// SPDX-License-Identifier: MIT
// Remembers what nix answered, keeps it from being collected, and forgets what nobody has asked for in a month.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "nix/packages.h"
#include "plan/facts.h"
#include "plan/nix/packages.h"

#include <stdbool.h>

struct package_cache package_cache_find(struct arena *arena, const struct config *config,
					const struct facts *facts);
// True when all that was found then is still there.
bool package_cache_load(const struct package_cache *memory, struct arena *arena,
			struct package_answer *ret_answer);
// Makes the directory for links.
bool package_cache_prepare_links(const struct package_cache *memory, struct error *error);
bool package_cache_store(const struct package_cache *memory, struct arena *arena,
			 const struct package_answer *answer, enum reference_kind kind,
			 struct error *error);
// Does this path of the store have a directory of programs?
bool packages_has_programs(struct arena *arena, const char *path);
