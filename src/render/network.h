// SPDX-License-Identifier: MIT
// Renders the tier inet as a pasta command line and as nftables rules.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

#define NETWORK_NAMESPACE_SHOWN "/proc/CHILD/ns/net"

// Returns the pasta command line that connects the network namespace at this path.
strings render_pasta(const struct plan *plan, struct arena *arena, const char *network_namespace);
// Returns the rules that are loaded before the agent starts.
const char *render_nft(const struct plan *plan, struct arena *arena);
// Returns the nft commands that replace the host's ranges, for when its addresses have changed.
const char *render_nft_change(struct arena *arena, const plan_ranges *host);
