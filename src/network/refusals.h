// SPDX-License-Identifier: MIT
// What the network refused while the box ran: from nft's counters to a line and to JSON.
#pragma once

#include "base/arena.h"
#include "plan/plan.h"

#include <stdbool.h>

struct refusal {
	const char *address;
	const char *protocol; // "tcp", "udp" or "icmp"
	unsigned int port;    // 0: a ping
	unsigned long count;
};

struct refusals {
	unsigned long total;
	VEC(struct refusal) list; // the most frequent first; may hold less than all
};

// From `nft -j list table`. False when the text is no such thing.
bool refused_parse(struct arena *arena, const char *json, struct refusals *ret_refusals);
// "refused 14 connections (192.168.1.10:22 ×12, …)", or NULL when nothing was. `ascii`: without that sign.
const char *refused_render_line(struct arena *arena, const struct refusals *refusals, bool ascii);
// The report for scripts. `refusals` NULL: nothing was counted.
const char *refused_render_report(struct arena *arena, const struct plan *plan, int status,
				  const struct refusals *refusals);
