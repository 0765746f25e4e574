// SPDX-License-Identifier: MIT
// Listening sockets of the host for --prove, and a server process that answers on them with the
// token.
#include "prove/listen.h"

#include "base/arena.h"
#include "config/config.h"
#include "plan/plan.h"
#include "prove/canaries.h"
#include "prove/protocol.h"
#include "prove/prove.h"
#include "sys/cleanup.h"
#include "sys/clock.h"
#include "sys/process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

enum {
	MAX_ADDRESSES = 16,
	MAX_LISTENERS = 4 * MAX_ADDRESSES,
	BACKLOG = 16,
	CONNECT_INTERVAL_MS = 20,
	TIMEOUT_MS = 20000, // for all attacks together
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

struct listeners {
	int fds[MAX_LISTENERS];
	size_t canaries[MAX_LISTENERS];
	size_t count;
	union address box_addresses[MAX_ADDRESSES]; // where a port of the box could be reachable
	size_t box_address_count;
};

static socklen_t address_size(const union address *address)
{
	return address->any.sa_family == AF_INET6 ? sizeof(address->v6) : sizeof(address->v4);
}

// Opens a bound socket; a stream socket listens. Returns -1 on failure.
static int open_listener(const union address *address, socklen_t size, int type)
{
	CLEANUP_FD int fd = socket(address->any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, &address->any, size) < 0 ||
	    (type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
		return -1;
	return take_fd(&fd);
}

static void add_listener(struct listeners *listeners, int fd, size_t canary)
{
	listeners->fds[listeners->count] = fd;
	listeners->canaries[listeners->count++] = canary;
}

static bool has_room(const struct listeners *listeners)
{
	return listeners->count < MAX_LISTENERS;
}

static void listen_at_path(struct prove *prove, struct listeners *listeners, struct canary *canary)
{
	union address address = { .local.sun_family = AF_UNIX };
	bool abstract = canary->kind == CANARY_ABSTRACT || canary->kind == CANARY_ABSTRACT_DATAGRAM;
	int type = canary->kind == CANARY_ABSTRACT_DATAGRAM ? SOCK_DGRAM : SOCK_STREAM;
	size_t length = strlen(canary->value) + 1;
	int fd = -1;

	if (length <= sizeof(address.local.sun_path) && has_room(listeners)) {
		// An abstract name starts with a NUL and has none at its end.
		memcpy(address.local.sun_path + abstract, canary->value, length - abstract);
		fd = open_listener(&address,
				   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length),
				   type);
	}
	if (fd < 0)
		canary->kind = CANARY_NOT_PLANTED;
	else
		add_listener(listeners, fd, (size_t)(canary - prove->list.items));
}

static void listen_at_address(struct prove *prove, struct listeners *listeners,
			      const union address *address, int type, const char *group)
{
	bool ipv6 = address->any.sa_family == AF_INET6;
	socklen_t size = address_size(address);
	const void *bytes = ipv6 ? (const void *)&address->v6.sin6_addr
				 : (const void *)&address->v4.sin_addr;
	int fd = has_room(listeners) ? open_listener(address, size, type) : -1;
	char text[INET6_ADDRSTRLEN];
	union address bound = { 0 };

	if (fd < 0)
		return;
	if (getsockname(fd, &bound.any, &size) < 0) {
		close(fd);
		return;
	}
	inet_ntop(address->any.sa_family, bytes, text, sizeof(text));
	add_listener(listeners, fd, prove->list.count);
	prove_add(prove, (struct canary){
				 .kind = type == SOCK_STREAM ? CANARY_TCP : CANARY_UDP,
				 .group = group,
				 .value = arena_strdup(prove->arena, text),
				 .extra = arena_printf(prove->arena, "%u",
						       ntohs(ipv6 ? bound.v6.sin6_port
								  : bound.v4.sin_port)),
			 });
}

// Listens at every address of the host but link-local ones, which need an interface.
static void listen_at_addresses(struct prove *prove, struct listeners *listeners)
{
	struct ifaddrs *all = NULL;

	if (getifaddrs(&all) < 0)
		return;
	for (struct ifaddrs *one = all; one && listeners->box_address_count < MAX_ADDRESSES;
	     one = one->ifa_next) {
		bool loopback = one->ifa_flags & IFF_LOOPBACK;
		int family = one->ifa_addr ? one->ifa_addr->sa_family : AF_UNSPEC;
		union address address = { 0 };

		if (family != AF_INET && family != AF_INET6)
			continue;
		memcpy(&address, one->ifa_addr,
		       family == AF_INET6 ? sizeof(address.v6) : sizeof(address.v4));
		if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&address.v6.sin6_addr))
			continue;
		listen_at_address(prove, listeners, &address, SOCK_STREAM,
				  loopback ? "loopback" : "host");
		listen_at_address(prove, listeners, &address, SOCK_DGRAM,
				  loopback ? "loopback" : "host");
		listeners->box_addresses[listeners->box_address_count++] = address;
	}
	freeifaddrs(all);
}

static bool is_published(const struct plan *plan, unsigned int number)
{
	vec_each(port, &plan->config->published_ports) {
		if (port->number == number)
			return true;
	}
	return false;
}

// Returns a port that is free on the host and that the plan does not publish, or 0.
static uint16_t find_free_port(const struct plan *plan)
{
	for (int tries = 0; tries <= MOST_PORTS; tries++) {
		union address address = { .v4 = { .sin_family = AF_INET,
						  .sin_addr = { htonl(INADDR_LOOPBACK) } } };
		socklen_t size = sizeof(address.v4);
		CLEANUP_FD int fd = open_listener(&address, size, SOCK_STREAM);

		if (fd < 0 || getsockname(fd, &address.any, &size) < 0)
			return 0;
		if (!is_published(plan, ntohs(address.v4.sin_port)))
			return ntohs(address.v4.sin_port);
	}
	return 0;
}

// Adds the port of the box that the server connects to. In the tier full the box's ports are those
// of the host, and the server does not connect.
static void add_incoming(struct prove *prove, const struct plan *plan, struct listeners *listeners)
{
	uint16_t port = plan->config->network == NETWORK_FULL ? 0 : find_free_port(plan);

	if (!port) {
		listeners->box_address_count = 0;
		return;
	}
	for (size_t i = 0; i < listeners->box_address_count; i++) {
		union address *address = &listeners->box_addresses[i];

		*(address->any.sa_family == AF_INET6 ? &address->v6.sin6_port
						     : &address->v4.sin_port) = htons(port);
	}
	prove_add(prove, (struct canary){ .kind = CANARY_INCOMING,
					  .value = arena_printf(prove->arena, "%u", port) });
}

// Starts a connection to the port of the box at each address. The attack program reports whether
// one arrives.
static void connect_to_box(const struct listeners *listeners)
{
	for (size_t i = 0; i < listeners->box_address_count; i++) {
		const union address *address = &listeners->box_addresses[i];
		CLEANUP_FD int fd = socket(address->any.sa_family,
					   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		(void)connect(fd, &address->any, address_size(address));
	}
}

// Counts a connection or a datagram and answers it with the token.
static void answer(const struct prove *prove, int listener, size_t canary)
{
	enum canary_kind kind = prove->list.items[canary].kind;
	bool datagram = kind == CANARY_UDP || kind == CANARY_ABSTRACT_DATAGRAM;
	union address from;
	socklen_t size = sizeof(from);
	char bytes[64];

	if (datagram) {
		if (recvfrom(listener, bytes, sizeof(bytes), 0, &from.any, &size) < 0)
			return;
		prove->connections[canary]++;
		sendto(listener, prove->token, strlen(prove->token), MSG_NOSIGNAL, &from.any, size);
	} else {
		CLEANUP_FD int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (connection < 0)
			return;
		prove->connections[canary]++;
		send(connection, prove->token, strlen(prove->token), MSG_NOSIGNAL);
	}
}

// Serves until the parent closes the pipe, then answers what is pending on all listeners. After the
// timeout it sends SIGTERM to the parent, as a user would end an attack program that hangs.
static _Noreturn void serve(const struct prove *prove, const struct listeners *listeners,
			    int parent_pipe, pid_t parent)
{
	struct pollfd wait[MAX_LISTENERS + 1] = { { .fd = parent_pipe, .events = POLLIN } };
	const int64_t end = clock_monotonic_ms() + TIMEOUT_MS;
	bool ended = false;

	for (size_t i = 0; i < listeners->count; i++)
		wait[i + 1] = (struct pollfd){ .fd = listeners->fds[i], .events = POLLIN };
	while (!ended) {
		int ready = poll(wait, listeners->count + 1, CONNECT_INTERVAL_MS);

		ended = wait[0].revents;
		for (size_t i = 0; ready > 0 && i < listeners->count; i++)
			if (wait[i + 1].revents || ended)
				answer(prove, listeners->fds[i], listeners->canaries[i]);
		if (clock_monotonic_ms() > end) {
			kill(parent, SIGTERM);
			ended = true;
		}
		connect_to_box(listeners);
	}
	_exit(0);
}

static void start_server(struct prove *prove, const struct listeners *listeners)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	prove->server = fork();
	if (prove->server == 0) {
		process_end_with_parent(parent, SIGKILL);
		close(ends[1]);
		serve(prove, listeners, ends[0], parent);
	}
	close(ends[0]);
	prove->server_pipe = ends[1];
}

void prove_listen(struct prove *prove, const struct plan *plan)
{
	struct listeners listeners = { 0 };

	prove_add(prove, (struct canary){ .kind = CANARY_ABSTRACT, .value = prove->mark });
	prove_add(prove, (struct canary){
				 .kind = CANARY_ABSTRACT_DATAGRAM,
				 .value = arena_printf(prove->arena, "%s.datagram", prove->mark) });
	vec_each(canary, &prove->list) {
		bool local = canary->kind == CANARY_UNIX || canary->kind == CANARY_ABSTRACT ||
			     canary->kind == CANARY_MOUNTED_SOCKET ||
			     canary->kind == CANARY_ABSTRACT_DATAGRAM;

		if (local && !canary->granted)
			listen_at_path(prove, &listeners, canary);
	}
	listen_at_addresses(prove, &listeners);
	add_incoming(prove, plan, &listeners);
	prove->connections = mmap(NULL, prove->list.count * sizeof(*prove->connections),
				  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (prove->connections == MAP_FAILED)
		prove->connections = NULL;
	else
		start_server(prove, &listeners);
	for (size_t i = 0; i < listeners.count; i++)
		close(listeners.fds[i]);
}

void prove_stop_listening(struct prove *prove)
{
	if (prove->server <= 0)
		return;
	close(prove->server_pipe);
	process_wait(prove->server);
	prove->server = 0;
}
