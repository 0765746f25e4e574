// SPDX-License-Identifier: MIT
// What is remembered of an answer of nix's, as JSON.
#pragma once

#include "base/arena.h"
#include "plan/nix/packages.h"

#include <stdbool.h>
#include <stdint.h>

// Names the files of this request, whatever the stamp.
const char *packages_key(struct arena *arena, const struct package_request *request);
const char *packages_write_cache(struct arena *arena, const struct package_request *request,
				 const struct package_answer *answer, enum reference_kind kind,
				 int64_t now);
// False when it is not for this request, or too old.
bool packages_read_cache(struct arena *arena, const char *json,
			 const struct package_request *request, int64_t now,
			 struct package_answer *ret_answer);
