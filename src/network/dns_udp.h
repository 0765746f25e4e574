// SPDX-License-Identifier: MIT
// DNS relay, UDP: sends each query to the host's resolvers through a socket of its own.
#pragma once

#include "network/dns_state.h"

#include <stdint.h>

// Returns when the next message may be received from the box.
int64_t dns_udp_ready_at(struct dns_relay *relay);
// Returns when the next timeout of a query is due, NEVER if there is none.
int64_t dns_udp_next_timeout(const struct dns_relay *relay);
// Receives messages from the box, as many as dns_udp_ready_at allows.
void dns_udp_receive(struct dns_relay *relay);
// Receives a message from a server to a query.
void dns_udp_receive_answer(struct dns_relay *relay, unsigned int index, unsigned int server);
// Handles the timeouts that are due.
void dns_udp_expire(struct dns_relay *relay);
// Sends all waiting queries again, after the list of servers has changed.
void dns_udp_restart_queries(struct dns_relay *relay);
