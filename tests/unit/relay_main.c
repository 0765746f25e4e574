// SPDX-License-Identifier: MIT
// Runs the DNS relay alone: relay ADDRESS RESOLV_CONF RESOLVER_PORT [PARENT]. Prints its port. A
// child process sends the list of resolvers, as the supervisor does.
#include "network/dns_relay.h"
#include "network/resolvers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ATTEMPTS = 100, BACKLOG = 64 };

// Opens a UDP and a TCP socket with the same port. Returns false if that fails.
static bool open_sockets(int sockets[2], struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);

	address->sin_port = 0;
	sockets[0] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	sockets[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sockets[0] >= 0 && sockets[1] >= 0 &&
	    bind(sockets[0], (struct sockaddr *)address, size) == 0 &&
	    getsockname(sockets[0], (struct sockaddr *)address, &size) == 0 &&
	    bind(sockets[1], (struct sockaddr *)address, size) == 0 &&
	    listen(sockets[1], BACKLOG) == 0)
		return true;
	close(sockets[0]);
	close(sockets[1]);
	return false;
}

// Sends the list of resolvers whenever the DNS relay asks for it, until the DNS relay ends.
static _Noreturn void serve_resolvers(struct resolvers *resolvers)
{
	// Nothing else may stay open, so that the tests see what the DNS relay keeps open.
	resolvers->channel = dup2(resolvers->channel, 0);
	closefrom(1);
	while (resolvers->channel >= 0) {
		struct pollfd wait = { .fd = resolvers->channel, .events = POLLIN };

		if (poll(&wait, 1, -1) < 0)
			break;
		resolvers_handle_request(resolvers);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	pid_t parent = argc > 4 ? (pid_t)strtol(argv[4], NULL, 10) : getppid();
	int attempts = ATTEMPTS;
	struct resolvers resolvers;
	int fds[DNS_RELAY_FIRST_OTHER];

	if (argc < 4 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1)
		return 2;
	while (!open_sockets(fds + DNS_RELAY_UDP, &address))
		if (--attempts == 0)
			return 1;
	fds[DNS_RELAY_RESOLVERS] =
		resolvers_open(&resolvers, argv[2], (uint16_t)strtol(argv[3], NULL, 10));
	resolvers_update(&resolvers);
	if (fork() == 0) {
		close(fds[DNS_RELAY_RESOLVERS]);
		serve_resolvers(&resolvers);
	}
	resolvers_close(&resolvers);
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	for (int i = DNS_RELAY_UDP; i <= DNS_RELAY_RESOLVERS; i++)
		fds[i] = fcntl(fds[i], F_DUPFD, DNS_RELAY_FIRST_OTHER);
	for (int i = DNS_RELAY_UDP; i <= DNS_RELAY_RESOLVERS; i++)
		dup2(fds[i], i);
	close(DNS_RELAY_USER_NAMESPACE);
	dns_relay_run(parent);
}
