// SPDX-License-Identifier: MIT
// Asks the Nix daemon whether it trusts the user, in parallel with the other probes.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

#include <stdbool.h>

struct nix_query {
	bool started;
	int socket;  // to the daemon; -1: it does not run, or this user cannot reach it
	bool failed; // connecting or sending failed for another reason
};

// Connects to the daemon and sends the client's first message. Does nothing for root.
struct nix_query probe_nix_start(void);
// Reads the daemon's answer and Nix's settings, fills facts->nix, and closes the socket.
void probe_nix_finish(struct nix_query *query, struct facts *facts, struct arena *arena);
