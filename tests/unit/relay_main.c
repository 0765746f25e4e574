// SPDX-License-Identifier: MIT
// The DNS relay by itself: relay ADDRESS RESOLV_CONF PORT_OF_RESOLVERS [PARENT]; prints the port that it listens at.
#include "network/dns_relay.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ATTEMPTS = 100, BACKLOG = 64 };

// UDP and TCP with the same number.
static bool open_sockets(struct relay *relay, struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);

	address->sin_port = 0;
	relay->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	relay->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (relay->udp >= 0 && relay->tcp >= 0 &&
	    bind(relay->udp, (struct sockaddr *)address, size) == 0 &&
	    getsockname(relay->udp, (struct sockaddr *)address, &size) == 0 &&
	    bind(relay->tcp, (struct sockaddr *)address, size) == 0 &&
	    listen(relay->tcp, BACKLOG) == 0)
		return true;
	close(relay->udp);
	close(relay->tcp);
	return false;
}

int main(int argc, char **argv)
{
	struct relay relay = { .parent = getppid() };
	struct sockaddr_in address = { .sin_family = AF_INET };
	int attempts = ATTEMPTS;

	if (argc < 4 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1)
		return 2;
	relay.resolv_conf = argv[2];
	relay.port = (uint16_t)strtol(argv[3], NULL, 10);
	if (argc > 4)
		relay.parent = (pid_t)strtol(argv[4], NULL, 10);
	while (!open_sockets(&relay, &address))
		if (--attempts == 0)
			return 1;
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	dns_relay_run(&relay);
}
