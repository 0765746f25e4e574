// SPDX-License-Identifier: MIT
// --prove: what is planted on the host, what the probe in the box says about it, and what that means.
//
// Theory of operation: canaries are marks with a random token, in every kind of place that the box must not reach. The
// probe gets their list, and the box of the plan with no other change, and prints a line for each attack of
// prove/attacks.def. What the plan lets in because the user asked for it is not in the list; its attacks are
// "granted". What only the host can see afterwards turns an attack that looked held into a leak.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "prove/canaries.h"

#include <stdbool.h>
#include <sys/types.h>

struct prove {
	struct arena *arena;
	const char *token; // what everything planted holds
	const char *mark;  // what it is called
	int key;           // of System V objects
	canaries list;
	int journal;            // locked as long as we live
	const char *listed;     // what it says
	unsigned int *arrivals; // for each canary, counted by the server
	pid_t server;
	int server_life; // closed: the server ends
	pid_t process;
	int process_life;
};

static inline struct canary *prove_add(struct prove *prove, struct canary canary)
{
	vec_push(prove->arena, &prove->list, canary);
	return &prove->list.items[prove->list.count - 1];
}

// Plants, attacks, cleans up and prints. The exit status says what came of it.
bool prove_command(struct prove *prove, const struct config *config, const struct facts *facts,
		   struct plan *plan, int *ret_status, struct error *error);
