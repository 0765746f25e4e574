// SPDX-License-Identifier: MIT
// Reads headers and questions of DNS messages; everything behind them is somebody else's business.
#include "network/dns.h"

#include <string.h>

enum {
	FLAG_ANSWER = 0x80,        // in the first byte of the flags
	OPERATION = 0x78,          // the same; 0 is a query
	FLAG_WANTS_RECURSION = 1,  // the same
	FLAG_DOES_RECURSION = 128, // in the second byte
	RESULT = 0x0f,             // the same
	LABEL_MAX = 63,
	NAME_MAX_SIZE = 255,
	TYPE_AND_CLASS = 4,
};

static unsigned int question_count(const uint8_t *message)
{
	return (unsigned int)message[4] << 8 | message[5];
}

// Where the question behind the header ends, 0: nowhere. A first name has nothing that it could point back to.
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

bool dns_flags_of_query(uint8_t flags)
{
	return (flags & (FLAG_ANSWER | OPERATION)) == 0;
}

size_t dns_query_end(const uint8_t *message, size_t size)
{
	if (size < DNS_HEADER_SIZE || !dns_flags_of_query(message[DNS_FLAGS_OFFSET]) ||
	    question_count(message) != 1)
		return 0;
	return question_end(message, size);
}

static uint8_t lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

bool dns_answers(const uint8_t *answer, size_t size, const uint8_t *query, size_t query_end)
{
	size_t name_end = query_end - TYPE_AND_CLASS;

	if (size < DNS_HEADER_SIZE || memcmp(answer, query, 2) != 0 ||
	    (answer[DNS_FLAGS_OFFSET] & (FLAG_ANSWER | OPERATION)) != FLAG_ANSWER)
		return false;
	// Some servers do not repeat a question that they refuse.
	if (question_count(answer) == 0)
		return dns_result(answer) != 0;
	if (question_count(answer) != 1 || question_end(answer, size) != query_end)
		return false;
	for (size_t i = DNS_HEADER_SIZE; i < name_end; i++)
		if (lower(answer[i]) != lower(query[i]))
			return false;
	return memcmp(answer + name_end, query + name_end, TYPE_AND_CLASS) == 0;
}

unsigned int dns_result(const uint8_t *answer)
{
	return answer[DNS_FLAGS_OFFSET + 1] & RESULT;
}

void dns_make_failure(uint8_t *answer, const uint8_t *query, size_t query_end, unsigned int code)
{
	memcpy(answer, query, query_end);
	memset(answer + 6, 0,
	       DNS_HEADER_SIZE - 6); // no answers, no authorities, nothing additional
	answer[DNS_FLAGS_OFFSET] =
		(uint8_t)(FLAG_ANSWER | (query[DNS_FLAGS_OFFSET] & FLAG_WANTS_RECURSION));
	answer[DNS_FLAGS_OFFSET + 1] = (uint8_t)(FLAG_DOES_RECURSION | (code & RESULT));
}
