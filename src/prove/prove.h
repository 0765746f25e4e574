// SPDX-License-Identifier: MIT
// --prove: plants canaries on the host, attacks them from inside the box, and reports the result.
//
// Theory of operation: canaries are objects that contain a random token, in every kind of place
// that the box must not reach. The attack program runs in the box of the plan, which is otherwise
// unchanged. It reads the list of canaries and prints a line for each attack of prove/attacks.def.
// Canaries that the plan lets in because the user requested them are not on the list; their attacks
// are "granted". A change that only the host can observe turns a blocked attack into a leak.
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
	const char *token; // the content of every planted object
	const char *mark;  // the name of every planted object
	int key;           // of System V objects
	canaries list;
	int journal;               // locked while this process runs
	const char *journal_text;  // content of the journal
	unsigned int *connections; // for each canary, counted by the server in shared memory
	pid_t server;
	int server_pipe; // the server exits when it is closed
	pid_t process;   // the planted process
	int process_pipe;
};

// Appends a canary to the list and returns it, valid until the next call.
static inline struct canary *prove_add(struct prove *prove, struct canary canary)
{
	vec_push(prove->arena, &prove->list, canary);
	return &prove->list.items[prove->list.count - 1];
}

// Plants the canaries, runs the attacks, removes the canaries and prints the report. `ret_status`
// is 0 if nothing leaked. Returns false with an error if the box could not start or the proof is
// incomplete.
bool prove_command(struct prove *prove, const struct config *config, const struct facts *facts,
		   struct plan *plan, int *ret_status, struct error *error);
