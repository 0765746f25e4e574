// SPDX-License-Identifier: MIT
// Refused connections of a box in the tier inet: parses nft's counters, renders a line and JSON.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

struct refusal {
	const char *address;
	const char *protocol; // "tcp", "udp" or "icmp"
	unsigned int port;    // 0: a ping
	unsigned long count;
};

struct refusals {
	unsigned long total;
	VEC(struct refusal) list; // most frequent first; incomplete if a set of nft was full
};

// Parses the output of `nft -j list table`. Returns false if it has no counter.
bool refused_parse(struct arena *arena, const char *json, struct refusals *ret_refusals);
// Returns "refused 14 connections (192.168.1.10:22 ×12, …)", NULL if none was refused. With
// `ascii`, the sign × is an "x".
const char *refused_render_line(struct arena *arena, const struct refusals *refusals, bool ascii);
// Returns the refused connections as JSON, for the report.
const char *refused_render_json(struct arena *arena, const struct refusals *refusals);
