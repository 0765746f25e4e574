// SPDX-License-Identifier: MIT
// The DNS message format, as far as the DNS relay needs it: queries, and answers that match them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DNS_PORT = 53,
	DNS_HEADER_SIZE = 12,
	DNS_FLAGS_OFFSET = 2,   // in a message
	DNS_QUESTION_MAX = 259, // a name, a type and a class
	DNS_OPT_SIZE = 11,      // an OPT record without options
	DNS_QUERY_MAX = DNS_HEADER_SIZE + DNS_QUESTION_MAX + DNS_OPT_SIZE,
	// Response codes.
	DNS_FORMERR = 1,
	DNS_SERVFAIL = 2,
	DNS_NXDOMAIN = 3,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
};

// Returns the lower-case form of a character of a name.
uint8_t dns_lower(uint8_t c);

// These read the header of a message, which must be complete: whether it is an answer, and its
// operation, which is 0 for a standard query.
bool dns_is_answer(const uint8_t *message);
unsigned int dns_operation(const uint8_t *message);

// Returns the offset behind the question of a standard query with exactly one question; 0 for any
// other message.
size_t dns_query_end(const uint8_t *message, size_t size);

// Returns whether `answer` is an answer to `query`. `query_end` is the result of dns_query_end.
bool dns_answers(const uint8_t *answer, size_t size, const uint8_t *query, size_t query_end);

// Returns the response code of an answer. The answer must have a whole header.
unsigned int dns_response_code(const uint8_t *answer);

// Writes an answer with the response code and without records. `answer` must have room for
// `query_end` bytes, which is also the size of the answer. If `query_end` is DNS_HEADER_SIZE, the
// answer does not repeat the question.
void dns_render_failure(uint8_t *answer, const uint8_t *query, size_t query_end, unsigned int code);
