// SPDX-License-Identifier: MIT
// Reads the host's addresses and networks from the kernel (rtnetlink), and finds pasta and nft.
#pragma once

#include "base/arena.h"
#include "plan/facts.h"

#include <stdbool.h>

// Fills facts->network, for the tier inet.
void probe_network(struct facts *facts, struct arena *arena);
// Fills network->ranges with every address of the host's interfaces and every network that they
// reach without a router, and ipv4 and ipv6. Returns false with errno.
bool probe_ranges(struct network_facts *network, struct arena *arena);
