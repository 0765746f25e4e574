// SPDX-License-Identifier: MIT
// Parses the header and the question of a DNS message. The records that follow are not parsed.
#include "network/dns.h"

#include <string.h>

enum {
	// RFC 1035, section 4.1.1. In the first byte of the flags:
	FLAG_RESPONSE = 0x80,
	OPCODE_MASK = 0x78, // 0 is a standard query
	OPCODE_SHIFT = 3,
	FLAG_RECURSION_DESIRED = 1,
	// In the second byte:
	FLAG_RECURSION_AVAILABLE = 128,
	RESPONSE_CODE_MASK = 0x0f,

	COUNT_OFFSET = 4,   // of the count of questions
	RECORDS_OFFSET = 6, // of the counts of answers, authorities and additional records
	LABEL_MAX = 63,
	NAME_MAX_SIZE = 255,
	TYPE_AND_CLASS = 4,
};

static unsigned int question_count(const uint8_t *message)
{
	return (unsigned int)message[COUNT_OFFSET] << 8 | message[COUNT_OFFSET + 1];
}

// Returns the offset behind the first question, 0 if it is malformed or cut off. A compression
// pointer is malformed here: there is no earlier name that the first one could point to.
static size_t question_end(const uint8_t *message, size_t size)
{
	size_t at = DNS_HEADER_SIZE;

	while (at < size && message[at]) {
		if (message[at] > LABEL_MAX)
			return 0;
		at += 1 + (size_t)message[at];
		if (at - DNS_HEADER_SIZE >= NAME_MAX_SIZE)
			return 0;
	}
	at += 1 + TYPE_AND_CLASS;
	return at <= size ? at : 0;
}

bool dns_is_answer(const uint8_t *message)
{
	return message[DNS_FLAGS_OFFSET] & FLAG_RESPONSE;
}

unsigned int dns_operation(const uint8_t *message)
{
	return (message[DNS_FLAGS_OFFSET] & OPCODE_MASK) >> OPCODE_SHIFT;
}

size_t dns_query_end(const uint8_t *message, size_t size)
{
	if (size < DNS_HEADER_SIZE || dns_is_answer(message) || dns_operation(message) ||
	    question_count(message) != 1)
		return 0;
	return question_end(message, size);
}

uint8_t dns_lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

bool dns_answers(const uint8_t *answer, size_t size, const uint8_t *query, size_t query_end)
{
	size_t name_end = query_end - TYPE_AND_CLASS;

	if (size < DNS_HEADER_SIZE || memcmp(answer, query, 2) != 0 ||
	    (answer[DNS_FLAGS_OFFSET] & (FLAG_RESPONSE | OPCODE_MASK)) != FLAG_RESPONSE)
		return false;
	// Some servers do not repeat the question when they refuse it.
	if (question_count(answer) == 0)
		return dns_response_code(answer) != 0;
	if (question_count(answer) != 1 || question_end(answer, size) != query_end)
		return false;
	for (size_t i = DNS_HEADER_SIZE; i < name_end; i++)
		if (dns_lower(answer[i]) != dns_lower(query[i]))
			return false;
	return memcmp(answer + name_end, query + name_end, TYPE_AND_CLASS) == 0;
}

unsigned int dns_response_code(const uint8_t *answer)
{
	return answer[DNS_FLAGS_OFFSET + 1] & RESPONSE_CODE_MASK;
}

void dns_render_failure(uint8_t *answer, const uint8_t *query, size_t query_end, unsigned int code)
{
	memcpy(answer, query, query_end);
	memset(answer + RECORDS_OFFSET, 0, DNS_HEADER_SIZE - RECORDS_OFFSET);
	if (query_end == DNS_HEADER_SIZE)
		memset(answer + COUNT_OFFSET, 0, RECORDS_OFFSET - COUNT_OFFSET);
	answer[DNS_FLAGS_OFFSET] =
		(uint8_t)(FLAG_RESPONSE |
			  (query[DNS_FLAGS_OFFSET] & (OPCODE_MASK | FLAG_RECURSION_DESIRED)));
	answer[DNS_FLAGS_OFFSET + 1] =
		(uint8_t)(FLAG_RECURSION_AVAILABLE | (code & RESPONSE_CODE_MASK));
}
