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
	DNS_SERVFAIL = 2,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
};

// Returns whether `flags`, the first byte of a message's flags, belongs to a standard query: the
// message is no answer, no update and no notification.
bool dns_flags_of_query(uint8_t flags);

// Returns the offset behind the question of a standard query with exactly one question; 0 for any
// other message.
size_t dns_query_end(const uint8_t *message, size_t size);

// Returns whether `answer` is an answer to `query`. `query_end` is the result of dns_query_end.
bool dns_answers(const uint8_t *answer, size_t size, const uint8_t *query, size_t query_end);

// Returns the response code of an answer. The answer must have a whole header.
unsigned int dns_response_code(const uint8_t *answer);

// Writes an answer with the response code and without records. `answer` must have room for
// `query_end` bytes, which is also the size of the answer.
void dns_render_failure(uint8_t *answer, const uint8_t *query, size_t query_end, unsigned int code);
