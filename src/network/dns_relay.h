// SPDX-License-Identifier: MIT
// The DNS relay: answers the DNS queries of the box by sending them to the host's resolvers.
#pragma once

#include "base/resolv_conf.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

// The first word of the command that runs the DNS relay.
#define DNS_RELAY_COMMAND "claudebox-relay"

// Descriptors of that command.
enum {
	DNS_RELAY_UDP = 3,        // bound to an IPv4 address in the box's network namespace
	DNS_RELAY_TCP,            // listening at an IPv4 address there
	DNS_RELAY_RESOLVERS,      // the channel of network/resolvers.h
	DNS_RELAY_USER_NAMESPACE, // the one that the DNS relay enters; may be closed: a new one
	DNS_RELAY_FIRST_OTHER,
};

struct dns_resolver {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address;
	socklen_t size;
};

// The message by which the DNS relay gets the host's resolvers.
struct dns_resolvers {
	unsigned int count;
	struct dns_resolver items[RESOLVERS_MAX];
};

// Runs the DNS relay with the descriptors above, as a child of the process `parent`, and ends with
// it. Closes all other descriptors and blocks all signals but SIGKILL and SIGSTOP.
_Noreturn void dns_relay_run(pid_t parent);
