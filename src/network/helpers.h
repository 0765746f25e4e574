// SPDX-License-Identifier: MIT
// Helper processes of the tier inet: nft, pasta and the DNS relay.
#pragma once

#include "base/arena.h"
#include "network/network.h"

#include <stdbool.h>
#include <sys/types.h>

enum { HELPER_TIMEOUT_MS = 10000 };

// Returns a helper with a pidfd for the child `pid`; without one (end is -1) if that fails.
struct network_helper helper_open(pid_t pid);
// Kills the helper if it still runs and waits for its end. Returns its status as wait(2) gives it.
int helper_stop(struct network_helper *helper);
// Waits for the end of a child, at most HELPER_TIMEOUT_MS, then kills it. Returns whether it exited
// with status 0.
bool helper_wait(pid_t pid);

// Starts nft in the box's network namespace, to load `rules`; its messages go to the descriptor
// `messages`. If `channel` is not -1, the child first prepares the namespace: it sends a byte on
// the channel when pasta may start, and then the sockets for the DNS relay. Returns -1 with errno.
pid_t helper_start_nft(const struct network *network, const char *rules, int channel, int messages);
// Waits for the byte from helper_start_nft. Returns false after a timeout or a failure.
bool helper_receive_prepared(int channel);
// Receives the sockets from helper_start_nft, {UDP, TCP}, which the caller closes.
bool helper_receive_sockets(int channel, int ret_sockets[2]);
// Starts pasta for the network namespace of `child`. It writes its process id to `out` when it is
// ready, and errors to `messages`. Returns -1 with errno.
pid_t helper_start_pasta(const struct network *network, struct arena *arena, pid_t child, int out,
			 int messages);
// Starts the DNS relay with these sockets, {UDP, TCP}, and its end of the channel of
// network/resolvers.h. Returns -1 with errno.
pid_t helper_start_dns_relay(const struct network *network, const int sockets[2], int resolvers);
// Returns the counters and sets of the rules as nft's JSON, NULL if nft fails.
const char *helper_read_counters(const struct network *network, struct arena *arena);
