// SPDX-License-Identifier: MIT
// DNS relay, TCP: forwards queries of the box to one of the host's resolvers.
#pragma once

#include "network/dns_state.h"

#include <stdbool.h>
#include <stdint.h>

// Returns when the next connection may be accepted from the box.
int64_t dns_tcp_ready_at(struct dns_relay *relay);
// Returns when the next timeout of a connection is due, NEVER if there is none.
int64_t dns_tcp_next_timeout(const struct dns_relay *relay);
// Accepts a connection from the box.
void dns_tcp_accept(struct dns_relay *relay);
// Reads and writes as much as possible at both ends, and closes the connection when it has ended.
void dns_tcp_transfer(struct dns_relay *relay, unsigned int index);
// Handles the timeouts that are due.
void dns_tcp_expire(struct dns_relay *relay);
// Connects again where no connection is established yet, after the list of servers has changed.
void dns_tcp_restart_connecting(struct dns_relay *relay);
// Closes the connection that has been idle longest, to free its descriptors. Returns false if there
// is no connection.
bool dns_tcp_close_idlest(struct dns_relay *relay);
