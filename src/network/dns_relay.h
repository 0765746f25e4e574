// SPDX-License-Identifier: MIT
// Answers the box's DNS queries by asking the host's resolvers.
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct relay {
	int udp; // bound to an IPv4 address in the box's network namespace
	int tcp; // listening there
	const char *resolv_conf;
	uint16_t port; // of the host's resolvers
	pid_t parent;  // the relay ends with it
};

// For a forked process, which becomes the relay: it closes all other descriptors and keeps no signal but SIGKILL.
_Noreturn void dns_relay_run(const struct relay *relay);
