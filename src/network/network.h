// SPDX-License-Identifier: MIT
// Connects a box to the internet in the tier inet: starts pasta, nft and the DNS relay, keeps the
// rules up to date while the box runs, and stops the helpers.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "network/refusals.h"
#include "network/resolvers.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <sys/types.h>

// A helper process that runs beside the box.
struct network_helper {
	pid_t pid; // 0: none
	int end;   // pidfd, readable when the process has ended; -1: none
};

struct network_pipes {
	int messages[2]; // standard error of nft and pasta
	int ready[2];    // pasta writes its process id when it is ready
	int channel[2];  // from the child that prepares the namespace
};

struct network {
	const struct plan *plan;
	struct arena *arena;
	int user_namespace; // owner of net_namespace
	int net_namespace;
	int box_end;                // pidfd of bwrap, readable when it has ended; -1: none
	int host_changes;           // netlink socket: changes of the host's addresses and routes
	struct network_pipes pipes; // open during the start only
	const char *rules;
	struct network_helper pasta;
	struct network_helper dns_relay;
	struct resolvers resolvers; // for the DNS relay
	bool disconnected;          // while the box was running
	const char *update_problem; // why the rules could not be updated, NULL: they could
	const char *loaded_ranges;  // the host's ranges as nft commands, as they were loaded last
};

// Descriptors that the supervisor polls.
enum {
	WATCHED_PASTA,
	WATCHED_DNS_RELAY,
	WATCHED_RESOLVERS,
	WATCHED_HOST_CHANGES,
	NETWORK_WATCHED,
};

// Does everything that does not need the box: checks published ports, opens pipes and the netlink
// socket. The caller calls network_end() in any case.
bool network_prepare(struct network *network, const struct plan *plan, struct error *error);
// Connects the box whose process 1 is `child` and which waits. Returns false with an error; the
// caller must not start the agent then.
bool network_start(struct network *network, pid_t child, struct error *error);
// Fills in the descriptors to poll for input, -1 for none.
void network_watched(const struct network *network, int fds[NETWORK_WATCHED]);
// Handles the events on those descriptors: the end of a helper, a request of the DNS relay, or a
// change of the host's addresses.
void network_handle_events(struct network *network, const bool ready[NETWORK_WATCHED]);
// Reads the host's addresses, routes and resolvers again and loads them into the rules, also if no
// event has reported a change. Returns when the new rules are in force. If that fails, disconnects
// the network and reports it. So the box may run on in either case. Returns whether the box is
// still connected.
bool network_renew(struct network *network);
// Returns whether the network was disconnected before the box ended.
bool network_was_lost(struct network *network);
// Reads which connections the rules have refused. Returns false if nft fails.
bool network_refused(const struct network *network, struct arena *arena,
		     struct refusals *ret_refusals);
// Stops the helpers and closes all descriptors.
void network_end(struct network *network);
