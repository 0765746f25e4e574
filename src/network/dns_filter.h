// SPDX-License-Identifier: MIT
// Decides what the DNS relay does with a message from the box.
#pragma once

#include "network/dns.h"

#include <stddef.h>
#include <stdint.h>

enum dns_action {
	DNS_DROP,    // the message is no query
	DNS_ANSWER,  // the DNS relay itself answers
	DNS_FORWARD, // to a resolver of the host
};

// A message to send: the answer to the box, or the query to a resolver.
struct dns_filtered {
	size_t size;
	size_t question_end; // offset behind the question
	uint8_t bytes[DNS_QUERY_MAX];
};

// Returns the action, and writes the message to send.
enum dns_action dns_filter(const uint8_t *message, size_t size, struct dns_filtered *ret_filtered);
