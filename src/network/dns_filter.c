// SPDX-License-Identifier: MIT
// Decides what the DNS relay does with a message from the box.
//
// Theory of operation: the host's resolver often belongs to the LAN, and trusts the host. The box
// gets what a program needs to look up names, and nothing else. A resolver never receives bytes as
// the box sent them: the DNS relay writes a new query with the same id and question. It always asks
// for recursion, because a query without it shows which names others have looked up. Of the
// additional records (EDNS, RFC 6891) it keeps the size of the answer and the bit DO. Options such
// as client subnet, cookie and NSID are left out, as is a signature.
//
// The DNS relay itself answers
// - NOTIMP to updates, notifications and other operations,
// - FORMERR to malformed messages and to records that no query has,
// - REFUSED to zone transfers, ANY, other meta types, and classes other than IN,
// - NXDOMAIN to names that only the LAN can answer: reverse names of the ranges that the tier inet
//   refuses (RFC 6303), .local (RFC 6762), and host names without a dot, which systemd-resolved
//   would look up by multicast, or answer with the addresses of the host and its router.
#include "network/dns_filter.h"

#include "base/address.h"
#include "network/dns.h"
#include "plan/tables.h"

#include <string.h>

enum {
	// Offsets in a header, RFC 1035, section 4.1.1.
	AUTHORITIES_OFFSET = 8,
	ANSWERS_OFFSET = 6,
	ADDITIONAL_OFFSET = 10,
	FLAG_RECURSION_DESIRED = 1,
	FLAGS_KEPT = 0x30, // AD and CD, in the second byte

	CLASS_IN = 1,
	TYPE_NS = 2,
	TYPE_SOA = 6,
	TYPE_OPT = 41,
	TYPE_DS = 43,
	TYPE_DNSKEY = 48,
	// RFC 6895, section 3.1.
	META_TYPES_FIRST = 128,
	META_TYPES_LAST = 255,
	PRIVATE_TYPES_FIRST = 0xff00,

	// Offsets in an OPT record without a name, RFC 6891, section 6.1.2.
	OPT_TYPE = 1,
	OPT_ANSWER_SIZE = 3,
	OPT_FLAGS = 7,
	OPT_DATA_SIZE = 9,
	OPT_SIZE = DNS_OPT_SIZE,
	OPT_FLAG_DO = 0x80, // in the first byte of the flags

	LABELS_MAX = 128,
	BITS_OF_BYTE = 8,
	BITS_OF_NIBBLE = 4,
	NIBBLES = 32,
};

// The labels of a name, as pointers to their length bytes.
struct labels {
	const uint8_t *items[LABELS_MAX];
	size_t count;
};

static unsigned int read_16(const uint8_t *bytes)
{
	return (unsigned int)bytes[0] << 8 | bytes[1];
}

static struct labels split_name(const uint8_t *name)
{
	struct labels labels = { 0 };

	for (; *name && labels.count < LABELS_MAX; name += 1 + *name)
		labels.items[labels.count++] = name;
	return labels;
}

// Returns whether the label with this number, counted from the end, is `text` in any case. `text`
// is lower case.
static bool label_is(const struct labels *labels, size_t from_end, const char *text)
{
	size_t length = strlen(text);
	const uint8_t *label;

	if (from_end >= labels->count)
		return false;
	label = labels->items[labels->count - 1 - from_end];
	if (label[0] != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if (dns_lower(label[1 + i]) != (uint8_t)text[i])
			return false;
	return true;
}

// Returns the value of a label that is a number without leading zeros and at most `max`; -1 if it
// is something else.
static int parse_label(const uint8_t *label, int base, int max)
{
	int value = 0;

	for (uint8_t i = 1; i <= label[0]; i++) {
		int c = dns_lower(label[i]);
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : base;

		if (digit >= base || (i > 1 && value == 0))
			return -1;
		value = value * base + digit;
		if (value > max)
			return -1;
	}
	return label[0] ? value : -1;
}

// Parses a name below in-addr.arpa or ip6.arpa. Returns false if it is none. The range is as long
// as the name has numbers: 168.192.in-addr.arpa is 192.168.0.0/16.
static bool parse_reverse(const struct labels *labels, struct address_range *ret_range)
{
	bool six = label_is(labels, 1, "ip6");
	size_t most = six ? NIBBLES : ADDRESS_BITS_4 / BITS_OF_BYTE;

	*ret_range = (struct address_range){ .six = six };
	if (!label_is(labels, 0, "arpa") || (!six && !label_is(labels, 1, "in-addr")))
		return false;
	for (size_t i = 0; i < most && i + 2 < labels->count; i++) {
		const uint8_t *label = labels->items[labels->count - 3 - i];
		int value = six ? parse_label(label, 16, 15) : parse_label(label, 10, 255);

		if (value < 0)
			break;
		if (six)
			ret_range->bytes[i / 2] |=
				(unsigned char)(i % 2 ? value : value << BITS_OF_NIBBLE);
		else
			ret_range->bytes[i] = (unsigned char)value;
		ret_range->length += six ? BITS_OF_NIBBLE : BITS_OF_BYTE;
	}
	return true;
}

// Returns whether the tier inet refuses all addresses of the range, in any network of a host.
static bool is_refused_range(const struct address_range *range)
{
	for (size_t i = 0; i < refused_range_count; i++) {
		struct address_range row;

		if (!address_parse(refused_ranges[i].range, &row))
			continue;
		if (address_covers(&row, range))
			return true;
		if (row.six || !range->six)
			continue;
		row = address_nat64(&row);
		if (address_covers(&row, range))
			return true;
	}
	return false;
}

// Returns whether only the LAN or the host can answer the question.
static bool is_local_name(const uint8_t *name, unsigned int type)
{
	struct labels labels = split_name(name);
	struct address_range range;

	if (label_is(&labels, 0, "local"))
		return true;
	// A resolver in the box that validates signatures asks for these records of a top-level
	// domain.
	if (labels.count == 1)
		return type != TYPE_NS && type != TYPE_SOA && type != TYPE_DS &&
		       type != TYPE_DNSKEY;
	return parse_reverse(&labels, &range) && is_refused_range(&range);
}

static bool is_refused_type(unsigned int type)
{
	return type == 0 || type == TYPE_OPT || type >= PRIVATE_TYPES_FIRST ||
	       (type >= META_TYPES_FIRST && type <= META_TYPES_LAST);
}

// Returns the OPT record behind the question; NULL if there is no record. Sets *ret_valid to false
// if there are other records, or a malformed one.
static const uint8_t *find_opt(const uint8_t *message, size_t size, size_t end, bool *ret_valid)
{
	const uint8_t *opt = message + end;
	unsigned int additional = read_16(message + ADDITIONAL_OFFSET);

	*ret_valid = !read_16(message + ANSWERS_OFFSET) && !read_16(message + AUTHORITIES_OFFSET) &&
		     (!additional || (additional == 1 && size - end >= OPT_SIZE && opt[0] == 0 &&
				      read_16(opt + OPT_TYPE) == TYPE_OPT &&
				      read_16(opt + OPT_DATA_SIZE) <= size - end - OPT_SIZE));
	return *ret_valid && additional ? opt : NULL;
}

// Returns the response code with which the DNS relay answers a query, 0 to forward it.
static unsigned int judge_query(const uint8_t *message, size_t end, bool records_valid)
{
	unsigned int type = read_16(message + end - 4);

	if (read_16(message + end - 2) != CLASS_IN || is_refused_type(type))
		return DNS_REFUSED;
	if (!records_valid)
		return DNS_FORMERR;
	return is_local_name(message + DNS_HEADER_SIZE, type) ? DNS_NXDOMAIN : 0;
}

// Writes a query with the id and the question of the message.
static void render_query(const uint8_t *message, size_t end, const uint8_t *opt,
			 struct dns_filtered *ret)
{
	memcpy(ret->bytes, message, end);
	memset(ret->bytes + ANSWERS_OFFSET, 0, DNS_HEADER_SIZE - ANSWERS_OFFSET);
	ret->bytes[DNS_FLAGS_OFFSET] = FLAG_RECURSION_DESIRED;
	ret->bytes[DNS_FLAGS_OFFSET + 1] &= FLAGS_KEPT;
	ret->size = ret->question_end = end;
	if (!opt)
		return;
	memset(ret->bytes + end, 0, OPT_SIZE);
	ret->bytes[end + OPT_TYPE + 1] = TYPE_OPT;
	memcpy(ret->bytes + end + OPT_ANSWER_SIZE, opt + OPT_ANSWER_SIZE, 2);
	ret->bytes[end + OPT_FLAGS] = opt[OPT_FLAGS] & OPT_FLAG_DO;
	ret->bytes[ADDITIONAL_OFFSET + 1] = 1;
	ret->size += OPT_SIZE;
}

enum dns_action dns_filter(const uint8_t *message, size_t size, struct dns_filtered *ret_filtered)
{
	bool records_valid = false;
	const uint8_t *opt = NULL;
	unsigned int code;
	size_t end;

	if (size < DNS_HEADER_SIZE || dns_is_answer(message))
		return DNS_DROP;
	end = dns_query_end(message, size);
	if (end)
		opt = find_opt(message, size, end, &records_valid);
	code = dns_operation(message) ? DNS_NOTIMP
	       : !end                 ? DNS_FORMERR
				      : judge_query(message, end, records_valid);
	if (!code) {
		render_query(message, end, opt, ret_filtered);
		return DNS_FORWARD;
	}
	// The question of a malformed message, or of another operation, cannot be repeated.
	ret_filtered->size = ret_filtered->question_end = end ? end : DNS_HEADER_SIZE;
	dns_render_failure(ret_filtered->bytes, message, ret_filtered->size, code);
	return DNS_ANSWER;
}
