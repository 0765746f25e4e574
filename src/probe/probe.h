// SPDX-License-Identifier: MIT
// Collects struct facts: reads the machine, changes nothing, and trusts no file of the project.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"

#include <stdbool.h>

// Facts that take time and that few boxes need. probe_all collects each of them when the
// configuration needs it, or when the command requests it by this flag.
enum probe_needs {
	PROBE_NETWORK = 1 << 0, // the host's addresses, pasta and nft
	PROBE_NIX = 1 << 1,     // the Nix daemon and the settings of nix
	PROBE_SYSTEMD = 1 << 2, // whether systemd can limit a box
};

// Collects the facts that are needed to find the profile and to decide whether it can be trusted:
// the user, the project with its repository, the secret places and the state directory. Fails when
// the user has no home directory of their own.
bool probe_base(struct facts *facts, struct arena *arena, char *const *environment,
		struct error *error);
// Collects all other facts that this configuration needs, and those that `needs` (a set of enum
// probe_needs) names. Call it after probe_base, with the profile applied. A fact that cannot be
// collected is missing in `facts`; the plan decides whether that is an error.
void probe_all(struct facts *facts, struct arena *arena, const struct config *config,
	       unsigned int needs);
