// SPDX-License-Identifier: MIT
// The host's resolvers for the DNS relay: the supervisor reads resolv.conf, because the DNS relay
// has no access to files.
#pragma once

#include "base/resolv_conf.h"
#include "network/dns_relay.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct resolvers {
	const char *path; // of resolv.conf
	uint16_t port;    // of the servers
	int channel;      // to the DNS relay; -1: none
	bool known;
	struct stat file; // resolv.conf as it was when it was read
	struct resolver_list list;
};

// Creates the channel. Returns the end for the DNS relay, -1 with errno.
int resolvers_open(struct resolvers *resolvers, const char *path, uint16_t port);
// Reads resolv.conf if it has changed, and sends the list to the DNS relay. A file that is missing
// for a moment while it is replaced does not change the list.
void resolvers_update(struct resolvers *resolvers);
// Handles a message of the DNS relay, which asks for an update, or the end of the DNS relay.
void resolvers_handle_request(struct resolvers *resolvers);
void resolvers_close(struct resolvers *resolvers);
