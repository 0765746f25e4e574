// SPDX-License-Identifier: MIT
// The cache of resolved packages: one file for each request, and links that keep the store paths
// from garbage collection.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/nix/packages.h"

#include <stdbool.h>

#define PACKAGES_DIRECTORY "packages" // below ~/.claudebox
#define ROOTS_DIRECTORY    "gcroots"

// The cache entry of one request.
struct package_cache {
	struct package_request request;
	const char *key;
	const char *root;  // ~/.claudebox
	const char *links; // path prefix of the entry's links
};

// Returns the description of the cache entry for the configured packages. Does not open anything.
struct package_cache package_cache_find(struct arena *arena, const struct config *config,
					const struct facts *facts);
// Reads the entry. Returns false if there is none, if it has expired, or if a store path is
// missing.
bool package_cache_load(const struct package_cache *cache, struct arena *arena,
			struct package_answer *ret_answer);
// Creates the directory for links.
bool package_cache_prepare_links(const struct package_cache *cache, struct error *error);
// Writes the entry and removes links and files that are not used any more. A result for a local
// reference is not stored, because the reference can change at any time.
bool package_cache_store(const struct package_cache *cache, struct arena *arena,
			 const struct package_answer *answer, enum reference_kind kind,
			 struct error *error);
// Returns whether the store path has a directory 'bin'.
bool packages_has_programs(struct arena *arena, const char *path);
