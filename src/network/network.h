// SPDX-License-Identifier: MIT
// The processes beside a box in the tier inet, and the namespaces that they serve.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "network/refusals.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <sys/types.h>

// What can end while the box goes on.
struct network_helper {
	pid_t pid; // 0: none
	int end;   // readable when it has ended
};

struct network_pipes {
	int messages[2]; // what nft and pasta say
	int ready[2];    // pasta's number
	int channel[2];  // from the child in the namespace
};

struct network {
	const struct plan *plan;
	struct arena *arena;
	int user_namespace; // owns the other one
	int net_namespace;
	int changes;                // of the host's addresses and routes
	struct network_pipes pipes; // during the start
	const char *rules;
	struct network_helper pasta;
	struct network_helper relay;
	bool lost;           // it was there, and ended before the box
	const char *problem; // why it must go
	const char *loaded;  // the host's ranges as nft has them
};

enum { NETWORK_WATCHED = 3 }; // descriptors that the supervisor polls for us

// All that can be done before the box is there. Whatever it says, network_end() must follow.
bool network_prepare(struct network *network, const struct plan *plan, struct error *error);
// Connects the waiting box whose process 1 is `child`. False with an error: the box must not start.
bool network_start(struct network *network, pid_t child, struct error *error);
// Descriptors to poll, -1 where there is nothing; then what happened.
void network_watched(const struct network *network, int fds[NETWORK_WATCHED]);
void network_take(struct network *network, const bool ready[NETWORK_WATCHED]);
// Whether pasta or the relay ended before the box did.
bool network_was_lost(struct network *network);
// What the rules refused. False when nft does not tell.
bool network_refused(const struct network *network, struct arena *arena,
		     struct refusals *ret_refusals);
void network_end(struct network *network);
