// SPDX-License-Identifier: MIT
// Reads the text of a resolv.conf(5), and makes the one that the box gets.
#pragma once

#include "base/arena.h"

#include <stddef.h>

enum {
	RESOLVERS_MAX = 3,   // as many as the C library asks
	RESOLVER_LINES = 16, // as many as are looked at: some may hold no valid address
	RESOLVER_ADDRESS_SIZE = 46,
	RESOLVER_SCOPE_SIZE = 16,
};

// Text of the right letters; whether it is an address is for inet_pton to say.
struct resolver {
	char address[RESOLVER_ADDRESS_SIZE];
	char scope[RESOLVER_SCOPE_SIZE]; // "eth0" of "fe80::1%eth0", or ""
};

struct resolver_list {
	size_t count;
	struct resolver items[RESOLVER_LINES];
};

// The lines `nameserver`, in their order. Without any it is the local one, as for the C library.
struct resolver_list resolv_parse(const char *text);

// A resolv.conf with `address` as the only server and with the search list and the options of the host's.
const char *resolv_render(struct arena *arena, const char *host_text, const char *address);
