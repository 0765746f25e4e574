// SPDX-License-Identifier: MIT
// As much of the DNS message format as it takes to pass questions on and to tell answers from forgeries.
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

// Whether the first byte of the flags is that of a plain query: no answer, no update, no notification.
bool dns_flags_of_query(uint8_t flags);

// Where the question of a plain query with exactly one of them ends; 0 when this is no such message.
size_t dns_query_end(const uint8_t *message, size_t size);

// Whether the answer is one to this query; `query_end` is what dns_query_end said.
bool dns_answers(const uint8_t *answer, size_t size, const uint8_t *query, size_t query_end);

// The result code of an answer that has a header.
unsigned int dns_result(const uint8_t *answer);

// An answer that says nothing but the code; it takes `query_end` bytes.
void dns_make_failure(uint8_t *answer, const uint8_t *query, size_t query_end, unsigned int code);
