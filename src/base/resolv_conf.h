// SPDX-License-Identifier: MIT
// Parses resolv.conf(5), and renders the one of the box.
#pragma once

#include "base/arena.h"

#include <stddef.h>

enum {
	RESOLVERS_MAX = 3,   // servers that the C library queries
	RESOLVER_LINES = 16, // lines that are read: some may have no valid address
	RESOLVER_ADDRESS_SIZE = 46,
	RESOLVER_SCOPE_SIZE = 16,
};

// A server. The address has only characters of addresses; the caller checks it with inet_pton(3).
struct resolver {
	char address[RESOLVER_ADDRESS_SIZE];
	char scope[RESOLVER_SCOPE_SIZE]; // "eth0" of "fe80::1%eth0", or ""
};

struct resolver_list {
	size_t count;
	struct resolver items[RESOLVER_LINES];
};

// Returns the servers of the `nameserver` lines, in their order; 127.0.0.1 if there is none, as in
// the C library. `text` may be NULL.
struct resolver_list resolv_parse(const char *text);

// Renders a resolv.conf with `address` as the only server and with the search list and the options
// of the host's file. `host_text` may be NULL.
const char *resolv_render(struct arena *arena, const char *host_text, const char *address);
