// SPDX-License-Identifier: MIT
// Ranges of IPv4 and IPv6 addresses, as bytes.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

enum { ADDRESS_BITS_4 = 32, ADDRESS_BITS_6 = 128 };

struct address_range {
	bool six;
	unsigned int length;     // of the prefix, in bits
	unsigned char bytes[16]; // an IPv4 address has the first four
};

// "10.0.0.0/8", "fe80::/10" or a single address. False when it is none.
bool address_parse(const char *text, struct address_range *ret_range);
// As nft and people write it; a single address without its length.
const char *address_render(struct arena *arena, const struct address_range *range);
// The range that an interface's address is in: all bits behind the prefix are cleared.
struct address_range address_network(struct address_range range);
bool address_covers(const struct address_range *outer, const struct address_range *inner);
// Where a NAT64 gateway (RFC 6052, the well-known prefix) shows an IPv4 range to IPv6.
struct address_range address_nat64(const struct address_range *four);
