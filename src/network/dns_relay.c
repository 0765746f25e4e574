// SPDX-License-Identifier: MIT
// Event loop of the DNS relay.
//
// Theory of operation: in the tier inet the box cannot reach the host or the host's network, where
// the host's resolver usually is. The DNS relay is a process in the host's network namespace. It
// has two sockets that were opened in the box's network namespace, and forwards DNS messages from
// there to port 53 of the servers in the host's resolv.conf. It sends nothing to any other address.
// It forwards ordinary queries only, which it writes anew (network/dns_filter.c).
//
// The DNS relay is a program of its own, which the supervisor executes (claudebox with another
// first word), so that its memory has no secrets of claudebox. It has no access to files and few
// system calls (network/dns_confine.c). The supervisor reads resolv.conf and sends the list of
// servers (network/resolvers.c).
//
// The box is untrusted. All memory is in one static struct with a fixed number of slots for queries
// and connections, and every slot is freed after a timeout. Messages that find no slot stay in the
// kernel's queues, which drop them when they are full. A token bucket limits the rate of UDP
// messages, and a delay before a slot is reused limits the rate of new connections.
//
// Each epoll_wait returns one event, so no event can refer to a socket that an earlier event has
// closed. A socket that waits for nothing is removed from epoll, so every event leads to progress
// and the loop cannot spin.
#include "network/dns_relay.h"

#include "base/resolv_conf.h"
#include "network/dns_confine.h"
#include "network/dns_servers.h"
#include "network/dns_state.h"
#include "network/dns_tcp.h"
#include "network/dns_udp.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
	OTHER_FDS = 10,
	QUERIES_MIN = 4,
	WATCH_RETRY_MS = 1000,
	RESOLVERS_TIMEOUT_US = 100000, // for the supervisor's answer
	// All queries to all servers, and all connections.
	DESCRIPTORS_MAX = OTHER_FDS + 2 * CONNECTIONS_MAX + RESOLVERS_MAX * QUERIES_MAX,
};

// Static, so zeroed: pages that are never written are never allocated.
static struct dns_relay the_relay;

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

// Watches a listening socket once `ready_at` is reached. Returns when this function must be called
// again, NEVER if the socket is watched.
static int64_t watch_from(struct dns_relay *relay, struct dns_endpoint *endpoint,
			  enum dns_event kind, int64_t ready_at)
{
	bool ready = ready_at <= relay->now;

	if (!dns_relay_watch(relay, endpoint, ready ? EPOLLIN : 0, kind, 0, 0))
		return relay->now + WATCH_RETRY_MS;
	return ready ? NEVER : ready_at;
}

// Watches the listening sockets, if they may be read now. Returns when the next timeout is due.
static int64_t update_watches(struct dns_relay *relay)
{
	int64_t next = earlier(dns_udp_next_timeout(relay), dns_tcp_next_timeout(relay));

	next = earlier(next, watch_from(relay, &relay->udp, EVENT_UDP, dns_udp_ready_at(relay)));
	return earlier(next, watch_from(relay, &relay->tcp, EVENT_TCP, dns_tcp_ready_at(relay)));
}

// Sends waiting queries to the new servers.
static void restart(struct dns_relay *relay)
{
	dns_udp_restart_queries(relay);
	dns_tcp_restart_connecting(relay);
}

static void handle_event(struct dns_relay *relay, uint64_t data)
{
	unsigned int index = (unsigned int)(data >> 8) & 0xffffff;

	switch ((enum dns_event)(data >> 32)) {
	case EVENT_UDP:
	case EVENT_TCP:
		if (dns_servers_refresh(relay))
			restart(relay);
		if (data >> 32 == EVENT_UDP)
			dns_udp_receive(relay);
		else
			dns_tcp_accept(relay);
		break;
	case EVENT_QUERY:
		dns_udp_receive_answer(relay, index, (unsigned int)data & 0xff);
		break;
	case EVENT_CONNECTION:
		dns_tcp_transfer(relay, index);
		break;
	case EVENT_RESOLVERS:
		if (dns_servers_receive(relay))
			restart(relay);
		break;
	}
}

// Waits for one event or timeout, and handles it.
static void run_once(struct dns_relay *relay)
{
	int64_t next = update_watches(relay);
	int64_t wait = next == NEVER ? -1 : next <= relay->now ? 0 : next - relay->now;
	struct epoll_event event;
	int ready = epoll_wait(relay->epoll, &event, 1, (int)earlier(wait, INT_MAX));

	if (ready < 0 && errno != EINTR)
		_exit(1);
	relay->now = clock_monotonic_ms();
	if (ready > 0)
		handle_event(relay, event.data.u64);
	if (relay->now >= next) {
		dns_udp_expire(relay);
		dns_tcp_expire(relay);
	}
}

// Closes all descriptors but its own. An inherited copy of a pipe or socket of the supervisor would
// delay the end of file for its peer. Returns false with errno.
static bool close_other_descriptors(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (null < 0 || (null != fd && dup3(null, fd, O_CLOEXEC) < 0))
			return false;
	if (null > STDERR_FILENO)
		close(null);
	closefrom(DNS_RELAY_FIRST_OTHER);
	return true;
}

// Enters the user namespace that was passed, or a new one, and gets an empty root.
static bool confine_files(void)
{
	bool passed = fcntl(DNS_RELAY_USER_NAMESPACE, F_GETFD) >= 0;

	if (!dns_confine_files(passed ? DNS_RELAY_USER_NAMESPACE : -1))
		return false;
	close(DNS_RELAY_USER_NAMESPACE);
	return true;
}

// Returns how many queries fit into the limit of descriptors, if each is sent to all servers.
static unsigned int query_limit(void)
{
	struct rlimit limit = { 0 };
	rlim_t others = OTHER_FDS + (rlim_t)2 * CONNECTIONS_MAX;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < others + (rlim_t)RESOLVERS_MAX * QUERIES_MIN)
		return QUERIES_MIN;
	if (limit.rlim_cur >= others + (rlim_t)RESOLVERS_MAX * QUERIES_MAX)
		return QUERIES_MAX;
	return (unsigned int)((limit.rlim_cur - others) / RESOLVERS_MAX);
}

// Opens and receives everything that the DNS relay needs, and confines it.
static bool start(struct dns_relay *relay, pid_t parent)
{
	const struct timeval wait = { .tv_usec = RESOLVERS_TIMEOUT_US };
	sigset_t all;

	// Ctrl+C and other signals of the terminal are for the agent. The supervisor sends SIGKILL.
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, DNS_RELAY_COMMAND);
	if (!close_other_descriptors() || !confine_files())
		return false;
	// After the change of credentials, which may reset it.
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		return false;
	relay->epoll = epoll_create1(EPOLL_CLOEXEC);
	relay->now = clock_monotonic_ms();
	relay->udp.fd = DNS_RELAY_UDP;
	relay->tcp.fd = DNS_RELAY_TCP;
	relay->resolvers.fd = DNS_RELAY_RESOLVERS;
	relay->query_limit = query_limit();
	// The supervisor has sent the first list before the start.
	return relay->epoll >= 0 && fcntl(DNS_RELAY_TCP, F_SETFL, O_NONBLOCK) == 0 &&
	       setsockopt(DNS_RELAY_RESOLVERS, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0 &&
	       dns_servers_receive(relay) &&
	       dns_relay_watch(relay, &relay->resolvers, EPOLLIN, EVENT_RESOLVERS, 0, 0) &&
	       dns_confine_calls(DESCRIPTORS_MAX);
}

_Noreturn void dns_relay_run(pid_t parent)
{
	if (!start(&the_relay, parent))
		_exit(1);
	for (;;)
		run_once(&the_relay);
}
