// SPDX-License-Identifier: MIT
// The tier inet: addresses that it uses, ranges that it refuses.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// Addresses that are nobody's on the internet: RFC 7335 and RFC 5180 keep them for uses that never meet it.
#define BOX_ADDRESS_4 "192.0.0.2"
#define BOX_LENGTH_4  "29"
#define BOX_GATEWAY_4 "192.0.0.1"
#define BOX_ADDRESS_6 "2001:2::2"
#define BOX_GATEWAY_6 "fe80::1"
#define BOX_INTERFACE "eth0"
// Where the relay for names listens, on the box's own loopback.
#define BOX_RESOLVER "127.0.0.53"
// Packets with this mark find no route. Only the rules can set it: a socket would need a capability.
#define REFUSED_MARK 1

// The ranges of the table.
plan_ranges plan_refused_ranges(struct arena *arena);
// The host's own ranges that the table does not cover, without overlaps.
plan_ranges plan_host_ranges(struct arena *arena, const host_ranges *found);

void plan_build_network(struct plan *plan, struct arena *arena, const struct config *config,
			const struct facts *facts);
bool plan_check_network(const struct plan *plan, const struct facts *facts, struct error *error);
