// SPDX-License-Identifier: MIT
// Runs the DNS relay alone: relay ADDRESS RESOLV_CONF RESOLVER_PORT [PARENT]. Prints its port.
#include "network/dns_relay.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ATTEMPTS = 100, BACKLOG = 64 };

// Opens a UDP and a TCP socket with the same port. Returns false if that fails.
static bool open_sockets(struct dns_relay_options *options, struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);

	address->sin_port = 0;
	options->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	options->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (options->udp >= 0 && options->tcp >= 0 &&
	    bind(options->udp, (struct sockaddr *)address, size) == 0 &&
	    getsockname(options->udp, (struct sockaddr *)address, &size) == 0 &&
	    bind(options->tcp, (struct sockaddr *)address, size) == 0 &&
	    listen(options->tcp, BACKLOG) == 0)
		return true;
	close(options->udp);
	close(options->tcp);
	return false;
}

int main(int argc, char **argv)
{
	struct dns_relay_options options = { .parent = getppid() };
	struct sockaddr_in address = { .sin_family = AF_INET };
	int attempts = ATTEMPTS;

	if (argc < 4 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1)
		return 2;
	options.resolv_conf = argv[2];
	options.port = (uint16_t)strtol(argv[3], NULL, 10);
	if (argc > 4)
		options.parent = (pid_t)strtol(argv[4], NULL, 10);
	while (!open_sockets(&options, &address))
		if (--attempts == 0)
			return 1;
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	dns_relay_run(&options);
}
