// SPDX-License-Identifier: MIT
// The acting side of --prove.
#pragma once

#include "plan/prove.h"

#include <signal.h>
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

// Before the machine is looked at: what a caller could have left in the environment, and open.
bool prove_begin(struct prove *prove, struct arena *arena, struct error *error);

// Plants, attacks, cleans up and prints. The exit status says what came of it.
bool run_prove(struct prove *prove, const struct config *config, const struct host *host,
	       struct plan *plan, int *ret_status, struct error *error);

// prove_plant.c: what is made, and what became of it. What cannot be made leaves the list.
void prove_plant(struct prove *prove, const struct plan *plan);
void prove_look_after(struct prove *prove);
void prove_uproot(struct prove *prove);

// prove_listen.c: sockets, and a process that answers there and counts, and knocks at a port of the box.
void prove_listen(struct prove *prove, const struct plan *plan);
void prove_stop_listening(struct prove *prove);

// prove_facts.c: what the host knows of itself.
void prove_add_facts(struct prove *prove, const struct plan *plan);

// prove_journal.c: what will be made is written down first, so that the next --prove can remove what a killed one left.
bool prove_open_journal(struct prove *prove, const struct plan *plan, struct error *error);
void prove_close_journal(struct prove *prove, const struct plan *plan);

static inline struct canary *prove_add(struct prove *prove, struct canary canary)
{
	vec_push(prove->arena, &prove->list, canary);
	return &prove->list.items[prove->list.count - 1];
}
