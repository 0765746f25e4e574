// SPDX-License-Identifier: MIT
// Asks the Nix daemon whether it trusts us, beside the rest of the probe.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

#include <stdbool.h>

struct nix_question {
	bool asked;
	int socket; // -1: nobody was there
	bool doubtful;
};

struct nix_question probe_nix_start(void);
void probe_nix_finish(struct nix_question *question, struct facts *facts, struct arena *arena);
