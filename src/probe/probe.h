// SPDX-License-Identifier: MIT
// Collects struct facts: reads the machine, changes nothing, and trusts no file of the project.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "probe/nix/daemon.h"

#include <stdbool.h>

// Facts that take time and that few boxes need. probe_all collects each of them when the
// configuration needs it, or when the command requests it by this flag.
enum probe_needs {
	PROBE_NETWORK = 1 << 0, // the host's addresses, pasta and nft
	PROBE_NIX = 1 << 1,     // the Nix daemon and the settings of nix
	PROBE_SYSTEMD = 1 << 2, // whether systemd can limit a box
};

// State between probe_base and probe_all.
struct probe {
	struct nix_query nix; // sent by probe_base, answer read by probe_all
};

// Collects the facts that are needed to find the profile and to decide whether it can be trusted:
// the user, the project with its repository, the secret places and the state directory. `config` is
// the configuration without the profile. Fails when the user has no home directory of their own.
bool probe_base(struct probe *probe, struct facts *facts, struct arena *arena,
		const struct config *config, char *const *environment, struct error *error);
// Collects all other facts that this configuration needs, and those that `needs` (a set of enum
// probe_needs) names. Call it after probe_base, with the profile applied. A fact that cannot be
// collected is missing in `facts`; the plan decides whether that is an error.
void probe_all(struct probe *probe, struct facts *facts, struct arena *arena,
	       const struct config *config, unsigned int needs);
