// SPDX-License-Identifier: MIT
// Parses, renders and compares ranges of IPv4 and IPv6 addresses.
#include "base/address.h"

#include "base/arena.h"

#include <arpa/inet.h>
#include <string.h>

static unsigned int address_bits(const struct address_range *range)
{
	return range->six ? ADDRESS_BITS_6 : ADDRESS_BITS_4;
}

static bool parse_length(const char *text, unsigned int most, unsigned int *ret_length)
{
	unsigned int length = 0;
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 3 || text[digits])
		return false;
	for (size_t i = 0; i < digits; i++)
		length = length * 10 + (unsigned int)(text[i] - '0');
	*ret_length = length;
	return length <= most;
}

bool address_parse(const char *text, struct address_range *ret_range)
{
	struct address_range range = { .six = strchr(text, ':') != NULL };
	size_t length = strcspn(text, "/");
	char address[INET6_ADDRSTRLEN];

	if (length >= sizeof(address))
		return false;
	memcpy(address, text, length);
	address[length] = '\0';
	range.length = address_bits(&range);
	if (inet_pton(range.six ? AF_INET6 : AF_INET, address, range.bytes) != 1 ||
	    (text[length] && !parse_length(text + length + 1, range.length, &range.length)))
		return false;
	*ret_range = range;
	return true;
}

const char *address_render(struct arena *arena, const struct address_range *range)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(range->six ? AF_INET6 : AF_INET, range->bytes, text, sizeof(text));
	if (range->length == address_bits(range))
		return arena_strdup(arena, text);
	return arena_printf(arena, "%s/%u", text, range->length);
}

struct address_range address_network(struct address_range range)
{
	for (unsigned int bit = range.length; bit < address_bits(&range); bit++)
		range.bytes[bit / 8] &= (unsigned char)~(0x80U >> bit % 8);
	return range;
}

bool address_covers(const struct address_range *outer, const struct address_range *inner)
{
	struct address_range masked = *inner;

	if (outer->six != inner->six || outer->length > inner->length)
		return false;
	masked.length = outer->length;
	masked = address_network(masked);
	return memcmp(masked.bytes, outer->bytes, outer->six ? 16 : 4) == 0;
}

struct address_range address_nat64(const struct address_range *four)
{
	struct address_range range = { .six = true,
				       .length = ADDRESS_BITS_6 - ADDRESS_BITS_4 + four->length,
				       .bytes = { 0x00, 0x64, 0xff, 0x9b } };

	memcpy(range.bytes + 12, four->bytes, 4);
	return range;
}
