// SPDX-License-Identifier: MIT
// The helper processes of the tier inet.
#pragma once

#include "base/arena.h"
#include "network/network.h"

#include <stdbool.h>
#include <sys/types.h>

enum { HELPER_LIMIT_MS = 10000 };

struct network_helper helper_of(pid_t pid);
// Kills it if it still runs; its status, as wait() gives it.
int helper_end(struct network_helper *helper);
// Waits, within bounds, for one that ends by itself. True: it says that all went well.
bool helper_await(pid_t pid);

// nft, in the box's network namespace. With a `channel` that is readied first: a word comes when pasta may start, and
// then the relay's sockets.
pid_t helper_start_rules(const struct network *network, const char *rules, int channel,
			 int messages);
bool helper_receive_go(int channel);
bool helper_receive_sockets(int channel, int ret_sockets[2]);
// pasta; it writes its number to `out` when it is ready, and complaints to `messages`.
pid_t helper_start_pasta(const struct network *network, struct arena *arena, pid_t child, int out,
			 int messages);
pid_t helper_start_relay(const int sockets[2]);
// What nft has counted, as JSON; NULL: it does not tell.
const char *helper_read_counters(const struct network *network, struct arena *arena);
