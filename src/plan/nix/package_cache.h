// SPDX-License-Identifier: MIT
// The JSON of a cache entry for resolved packages.
#pragma once

#include "base/arena.h"
#include "plan/nix/packages.h"

#include <stdbool.h>
#include <stdint.h>

// Returns the digest that names the files of a request. The stamp is not part of it.
const char *packages_key(struct arena *arena, const struct package_request *request);
const char *packages_render_cache(struct arena *arena, const struct package_request *request,
				  const struct package_answer *answer, enum reference_kind kind,
				  int64_t now);
// Returns false if the JSON is malformed, belongs to another request, or has expired.
bool packages_parse_cache(struct arena *arena, const char *json,
			  const struct package_request *request, int64_t now,
			  struct package_answer *ret_answer);
