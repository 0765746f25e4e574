// SPDX-License-Identifier: MIT
// The tier inet: the addresses of the box and the ranges that it cannot reach.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "plan/facts.h"
#include "plan/plan.h"

#include <stdbool.h>

// RFC 7335 and RFC 5180 reserve these addresses; no host on the internet has one of them.
#define BOX_ADDRESS_4 "192.0.0.2"
#define BOX_LENGTH_4  "29"
#define BOX_GATEWAY_4 "192.0.0.1"
#define BOX_ADDRESS_6 "2001:2::2"
#define BOX_GATEWAY_6 "fe80::1"
#define BOX_INTERFACE "eth0"
// The DNS relay's address, on the box's loopback.
#define BOX_RESOLVER "127.0.0.53"
// Packets with this mark have an unreachable route. Only the rules can set the mark: a socket needs
// a capability for that.
#define REFUSED_MARK 1

// Returns the ranges of the table refused_ranges.
plan_ranges plan_refused_ranges(struct arena *arena);
// Returns the host's own ranges that are not in that table, without overlaps.
plan_ranges plan_host_ranges(struct arena *arena, const host_ranges *found);

// Fills plan->inet and adds the box's resolv.conf, in tiers that pasta connects.
void plan_build_network(struct plan *plan, struct arena *arena, const struct facts *facts);
// Returns false with an error if the host lacks something that the tier needs.
bool plan_check_network(const struct plan *plan, const struct facts *facts, struct error *error);
// Returns why the host cannot look up host names, NULL: it can.
const char *plan_resolver_problem(struct arena *arena, const struct facts *facts);
// Returns whether one of the ranges includes `range`.
bool plan_ranges_cover(const plan_ranges *ranges, const struct address_range *range);
