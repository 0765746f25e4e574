// SPDX-License-Identifier: MIT
// Sockets of the host for --prove, and a process that answers there with the token and counts who came, and knocks at the box.
#include "prove/listen.h"

#include "base/arena.h"
#include "config/config.h"
#include "plan/plan.h"
#include "prove/canaries.h"
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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

enum {
	MOST_ADDRESSES = 16,
	MOST_LISTENERS = 4 * MOST_ADDRESSES,
	BACKLOG = 16,
	KNOCK_MS = 20,
	LIMIT_MS = 20000, // for all attacks together
};

union place {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

struct listeners {
	int fds[MOST_LISTENERS];
	size_t canaries[MOST_LISTENERS];
	size_t count;
	union place doors[MOST_ADDRESSES]; // where a port of the box could be reached
	size_t door_count;
};

static socklen_t size_of(const union place *address)
{
	return address->any.sa_family == AF_INET6 ? sizeof(address->v6) : sizeof(address->v4);
}

// A bound socket, listening if that is what its kind does; -1: it cannot be had.
static int open_listener(const union place *place, socklen_t size, int type)
{
	CLEANUP_FD int fd = socket(place->any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, &place->any, size) < 0 ||
	    (type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
		return -1;
	return take_fd(&fd);
}

static void keep(struct listeners *listeners, int fd, size_t canary)
{
	listeners->fds[listeners->count] = fd;
	listeners->canaries[listeners->count++] = canary;
}

static bool has_room(const struct listeners *listeners)
{
	return listeners->count < MOST_LISTENERS;
}

static void listen_at_path(struct prove *prove, struct listeners *listeners, struct canary *canary)
{
	union place place = { .local.sun_family = AF_UNIX };
	bool abstract = canary->kind != CANARY_UNIX;
	int type = canary->kind == CANARY_ABSTRACT_DATAGRAM ? SOCK_DGRAM : SOCK_STREAM;
	size_t length = strlen(canary->value) + 1;
	int fd = -1;

	if (length <= sizeof(place.local.sun_path) && has_room(listeners)) {
		// An abstract name starts with a NUL and has none at its end.
		memcpy(place.local.sun_path + abstract, canary->value, length - abstract);
		fd = open_listener(
			&place, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length), type);
	}
	if (fd < 0)
		canary->kind = CANARY_KIND_COUNT;
	else
		keep(listeners, fd, (size_t)(canary - prove->list.items));
}

static void listen_at_address(struct prove *prove, struct listeners *listeners,
			      const union place *address, int type, const char *group)
{
	bool ipv6 = address->any.sa_family == AF_INET6;
	socklen_t size = size_of(address);
	const void *bytes = ipv6 ? (const void *)&address->v6.sin6_addr
				 : (const void *)&address->v4.sin_addr;
	int fd = has_room(listeners) ? open_listener(address, size, type) : -1;
	char text[INET6_ADDRSTRLEN];
	union place bound = { 0 };

	if (fd < 0)
		return;
	if (getsockname(fd, &bound.any, &size) < 0) {
		close(fd);
		return;
	}
	inet_ntop(address->any.sa_family, bytes, text, sizeof(text));
	keep(listeners, fd, prove->list.count);
	prove_add(prove, (struct canary){
				 .kind = type == SOCK_STREAM ? CANARY_TCP : CANARY_UDP,
				 .group = group,
				 .value = arena_strdup(prove->arena, text),
				 .extra = arena_printf(prove->arena, "%u",
						       ntohs(ipv6 ? bound.v6.sin6_port
								  : bound.v4.sin_port)),
			 });
}

// Every address of the host but link-local ones, which mean nothing without an interface.
static void listen_at_addresses(struct prove *prove, struct listeners *listeners)
{
	struct ifaddrs *all = NULL;

	if (getifaddrs(&all) < 0)
		return;
	for (struct ifaddrs *one = all; one && listeners->door_count < MOST_ADDRESSES;
	     one = one->ifa_next) {
		bool loopback = one->ifa_flags & IFF_LOOPBACK;
		int family = one->ifa_addr ? one->ifa_addr->sa_family : AF_UNSPEC;
		union place place = { 0 };

		if (family != AF_INET && family != AF_INET6)
			continue;
		memcpy(&place, one->ifa_addr,
		       family == AF_INET6 ? sizeof(place.v6) : sizeof(place.v4));
		if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&place.v6.sin6_addr))
			continue;
		listen_at_address(prove, listeners, &place, SOCK_STREAM,
				  loopback ? "loopback" : "host");
		listen_at_address(prove, listeners, &place, SOCK_DGRAM,
				  loopback ? "loopback" : "host");
		listeners->doors[listeners->door_count++] = place;
	}
	freeifaddrs(all);
}

static bool is_published(const struct plan *plan, unsigned int number)
{
	vec_each(port, &plan->inet.published_ports) {
		if (port->number == number)
			return true;
	}
	return false;
}

// A port that nobody has here, and that the box was not given; 0: none.
static uint16_t free_port(const struct plan *plan)
{
	for (int tries = 0; tries <= MOST_PORTS; tries++) {
		union place place = { .v4 = { .sin_family = AF_INET,
					      .sin_addr = { htonl(INADDR_LOOPBACK) } } };
		socklen_t size = sizeof(place.v4);
		CLEANUP_FD int fd = open_listener(&place, size, SOCK_STREAM);

		if (fd < 0 || getsockname(fd, &place.any, &size) < 0)
			return 0;
		if (!is_published(plan, ntohs(place.v4.sin_port)))
			return ntohs(place.v4.sin_port);
	}
	return 0;
}

// In full the box's ports are the host's, and nothing is tried.
static void add_doors(struct prove *prove, const struct plan *plan, struct listeners *listeners)
{
	uint16_t port = plan->network == NETWORK_FULL ? 0 : free_port(plan);

	if (!port) {
		listeners->door_count = 0;
		return;
	}
	for (size_t i = 0; i < listeners->door_count; i++) {
		union place *door = &listeners->doors[i];

		*(door->any.sa_family == AF_INET6 ? &door->v6.sin6_port : &door->v4.sin_port) =
			htons(port);
	}
	prove_add(prove, (struct canary){ .kind = CANARY_INCOMING,
					  .value = arena_printf(prove->arena, "%u", port) });
}

// Whether anybody came is the box's to say.
static void knock(const struct listeners *listeners)
{
	for (size_t i = 0; i < listeners->door_count; i++) {
		const union place *door = &listeners->doors[i];
		CLEANUP_FD int fd =
			socket(door->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		(void)connect(fd, &door->any, size_of(door));
	}
}

static void answer(const struct prove *prove, int listener, size_t canary)
{
	enum canary_kind kind = prove->list.items[canary].kind;
	bool datagram = kind == CANARY_UDP || kind == CANARY_ABSTRACT_DATAGRAM;
	union place from;
	socklen_t size = sizeof(from);
	char bytes[64];

	if (datagram) {
		if (recvfrom(listener, bytes, sizeof(bytes), 0, &from.any, &size) < 0)
			return;
		prove->arrivals[canary]++;
		sendto(listener, prove->token, strlen(prove->token), MSG_NOSIGNAL, &from.any, size);
	} else {
		CLEANUP_FD int guest = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (guest < 0)
			return;
		prove->arrivals[canary]++;
		send(guest, prove->token, strlen(prove->token), MSG_NOSIGNAL);
	}
}

// Until the parent lets go; one last look at all listeners then. A probe that hangs is ended like by a user.
static _Noreturn void serve(const struct prove *prove, const struct listeners *listeners, int life,
			    pid_t parent)
{
	struct pollfd wait[MOST_LISTENERS + 1] = { { .fd = life, .events = POLLIN } };
	const int64_t end = clock_monotonic_ms() + LIMIT_MS;
	bool ended = false;

	for (size_t i = 0; i < listeners->count; i++)
		wait[i + 1] = (struct pollfd){ .fd = listeners->fds[i], .events = POLLIN };
	while (!ended) {
		int ready = poll(wait, listeners->count + 1, KNOCK_MS);

		ended = wait[0].revents;
		for (size_t i = 0; ready > 0 && i < listeners->count; i++)
			if (wait[i + 1].revents || ended)
				answer(prove, listeners->fds[i], listeners->canaries[i]);
		if (clock_monotonic_ms() > end) {
			kill(parent, SIGTERM);
			ended = true;
		}
		knock(listeners);
	}
	_exit(0);
}

static void start_server(struct prove *prove, const struct listeners *listeners)
{
	pid_t parent = getpid();
	int life[2];

	if (pipe2(life, O_CLOEXEC) < 0)
		return;
	prove->server = fork();
	if (prove->server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(life[1]);
		if (getppid() != parent)
			_exit(0);
		serve(prove, listeners, life[0], parent);
	}
	close(life[0]);
	prove->server_life = life[1];
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
			     canary->kind == CANARY_ABSTRACT_DATAGRAM;

		if (local && !canary->granted)
			listen_at_path(prove, &listeners, canary);
	}
	listen_at_addresses(prove, &listeners);
	add_doors(prove, plan, &listeners);
	prove->arrivals = mmap(NULL, prove->list.count * sizeof(*prove->arrivals),
			       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (prove->arrivals == MAP_FAILED)
		prove->arrivals = NULL;
	else
		start_server(prove, &listeners);
	for (size_t i = 0; i < listeners.count; i++)
		close(listeners.fds[i]);
}

void prove_stop_listening(struct prove *prove)
{
	if (prove->server <= 0)
		return;
	close(prove->server_life);
	process_wait(prove->server);
	prove->server = 0;
}
