// SPDX-License-Identifier: MIT
// Parses, renders and compares ranges of IPv4 and IPv6 addresses.
#pragma once

#include "base/arena.h"

#include <stdbool.h>

enum { ADDRESS_BITS_4 = 32, ADDRESS_BITS_6 = 128 };

struct address_range {
	bool six;                // IPv6
	unsigned int length;     // of the prefix, in bits
	unsigned char bytes[16]; // in network order; an IPv4 address uses the first four
};

// Parses "10.0.0.0/8", "fe80::/10" or a single address. Returns false if the text is neither.
bool address_parse(const char *text, struct address_range *ret_range);
// Returns the range as nft writes it; a single address has no prefix length.
const char *address_render(struct arena *arena, const struct address_range *range);
// Returns the network of an interface's address: all bits after the prefix are cleared.
struct address_range address_network(struct address_range range);
// Returns whether `outer` contains all of `inner`. A range of the other address family never does.
bool address_covers(const struct address_range *outer, const struct address_range *inner);
// Returns the IPv6 range by which a NAT64 gateway with the well-known prefix (RFC 6052) reaches an
// IPv4 range.
struct address_range address_nat64(const struct address_range *four);
