// SPDX-License-Identifier: MIT
// The DNS relay: answers the DNS queries of the box by sending them to the host's resolvers.
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct dns_relay_options {
	int udp; // bound to an IPv4 address in the box's network namespace
	int tcp; // listening at an IPv4 address there
	const char *resolv_conf;
	uint16_t port; // of the host's resolvers
	pid_t parent;  // the DNS relay ends with this process
};

// Runs the DNS relay in a forked process. Closes all other descriptors and blocks all signals but
// SIGKILL and SIGSTOP.
_Noreturn void dns_relay_run(const struct dns_relay_options *options);
