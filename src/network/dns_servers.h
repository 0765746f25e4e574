// SPDX-License-Identifier: MIT
// The host's resolvers and the order in which the DNS relay tries them.
#pragma once

#include "network/dns_state.h"

#include <stdbool.h>
#include <stdint.h>

// Asks the supervisor for the list of servers, at most once a second, and waits for the answer for
// a short time. Returns whether the list has changed.
bool dns_servers_refresh(struct dns_relay *relay);
// Receives a list of servers from the supervisor, which may have sent it without being asked.
// Returns whether it has changed. Exits if the supervisor has ended.
bool dns_servers_receive(struct dns_relay *relay);
// Returns the index of the best server that is not in the mask `tried`, -1 if there is none.
int dns_servers_select(const struct dns_relay *relay, unsigned int tried);
// Returns a new socket that is connected or connecting to the server; -1 with errno.
int dns_servers_connect(const struct dns_relay *relay, unsigned int server, int type);
void dns_servers_record_answer(struct dns_relay *relay, unsigned int server);
// Called for a query or connection attempt of the time `sent_at` that the server has not answered.
// Marks the server as down if it has answered nothing since, and enough time has passed.
void dns_servers_record_silence(struct dns_relay *relay, unsigned int server, int64_t sent_at);
