// SPDX-License-Identifier: MIT
// Packages from Nix: finds and builds them on the host before the plan is built.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// Fills facts->packages. Runs nix only if the cache has no valid entry. Returns false with an error
// that names the package.
bool packages_resolve(struct facts *facts, const struct config *config, struct arena *arena,
		      struct error *error);

enum packages_state {
	PACKAGES_INVALID,   // with an error
	PACKAGES_UNKNOWN,   // nix must fetch nixpkgs first
	PACKAGES_EVALUATED, // nix has a derivation for each name
	PACKAGES_CACHED,    // the cache has a valid entry
};

// For --check: returns what is known about the packages. Builds, fetches and stores nothing.
enum packages_state packages_lookup(const struct facts *facts, const struct config *config,
				    struct arena *arena, struct error *error);
