// SPDX-License-Identifier: MIT
// The loop of the DNS relay.
//
// Theory of operation: a box that may reach the internet but not the host or its network needs names all the same,
// and the host's resolver is mostly on one of the two. So this process, which lives in the host's network, holds two
// sockets of the box's network and passes DNS messages on: to port 53 of the servers in the host's resolv.conf, and
// nowhere else. Only plain queries pass; an update of somebody's zone does not.
//
// The box is hostile. All memory is in one static struct, each kind of thing has a fixed number of places, and each
// place is given back after a fixed time. What is more than that stays in the kernel's queues, which drop it. Messages
// are also counted, so that the box cannot keep this process, or the host's resolver, busier than any honest one would.
//
// One event is taken at a time: none can be about a socket that an earlier one has closed. A socket without a wish is
// not in the set, so every event lets something move, and nothing can wake us for ever.
#include "network/dns_relay.h"

#include "base/resolv_conf.h"
#include "network/dns_loop.h"
#include "network/dns_servers.h"
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

enum { UDP_FD = 3, TCP_FD, FIRST_OTHER_FD, OTHER_FDS = 10, QUERIES_MIN = 4 };

// In the zeroed part of the program: pages that are never needed are never there.
static struct loop the_loop;

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

// Listens where something can be taken now; otherwise returns when that will be.
static int64_t listen_when(struct loop *loop, struct endpoint *endpoint, enum event_kind kind,
			   int64_t ready_at)
{
	bool ready = ready_at <= loop->now;

	if (!loop_watch(loop, endpoint, ready ? EPOLLIN : 0, kind, 0, 0))
		return loop->now + 1000;
	return ready ? NEVER : ready_at;
}

static int64_t prepare(struct loop *loop)
{
	int64_t next = earlier(udp_next(loop), tcp_next(loop));

	next = earlier(next, listen_when(loop, &loop->udp, EVENT_UDP, udp_ready_at(loop)));
	return earlier(next, listen_when(loop, &loop->tcp, EVENT_TCP, tcp_ready_at(loop)));
}

static void take_event(struct loop *loop, uint64_t data)
{
	unsigned int index = (unsigned int)(data >> 8) & 0xffffff;

	switch ((enum event_kind)(data >> 32)) {
	case EVENT_UDP:
	case EVENT_TCP:
		if (servers_refresh(loop)) {
			udp_ask_again(loop);
			tcp_forget_servers(loop);
		}
		if (data >> 32 == EVENT_UDP)
			udp_receive(loop);
		else
			tcp_accept(loop);
		break;
	case EVENT_QUERY:
		udp_answer(loop, index, (unsigned int)data & 0xff);
		break;
	case EVENT_CONNECTION:
		tcp_move(loop, index);
		break;
	}
}

static void step(struct loop *loop)
{
	int64_t next = prepare(loop);
	int64_t wait = next == NEVER ? -1 : next <= loop->now ? 0 : next - loop->now;
	struct epoll_event event;
	int ready = epoll_wait(loop->epoll, &event, 1, (int)earlier(wait, INT_MAX));

	if (ready < 0 && errno != EINTR)
		_exit(1);
	loop->now = clock_monotonic_ms();
	if (ready > 0)
		take_event(loop, event.data.u64);
	if (loop->now >= next) {
		udp_expire(loop);
		tcp_expire(loop);
	}
}

// The supervisor's descriptors are not ours: an open end here would hide from others that the supervisor has closed it.
static bool keep_two_descriptors(struct relay *relay)
{
	int udp = fcntl(relay->udp, F_DUPFD_CLOEXEC, FIRST_OTHER_FD);
	int tcp = fcntl(relay->tcp, F_DUPFD_CLOEXEC, FIRST_OTHER_FD);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (null < 0 || (null != fd && dup3(null, fd, O_CLOEXEC) < 0))
			return false;
	if (udp < 0 || tcp < 0 || dup3(udp, UDP_FD, O_CLOEXEC) < 0 ||
	    dup3(tcp, TCP_FD, O_CLOEXEC) < 0)
		return false;
	closefrom(FIRST_OTHER_FD);
	relay->udp = UDP_FD;
	relay->tcp = TCP_FD;
	return true;
}

// As few queries at a time as there are descriptors for, each with all servers.
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

static bool start(struct loop *loop, const struct relay *relay)
{
	sigset_t all;

	// Ctrl+C and the like are for the agent. The end comes with SIGKILL, which nothing can hold up.
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != relay->parent)
		return false;
	prctl(PR_SET_NAME, "claudebox-relay");
	loop->relay = *relay;
	if (!keep_two_descriptors(&loop->relay))
		return false;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0);
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	loop->now = clock_monotonic_ms();
	loop->udp.fd = loop->relay.udp;
	loop->tcp.fd = loop->relay.tcp;
	loop->query_limit = query_limit();
	servers_refresh(loop);
	return loop->epoll >= 0 && fcntl(loop->relay.tcp, F_SETFL, O_NONBLOCK) == 0;
}

_Noreturn void dns_relay_run(const struct relay *relay)
{
	if (!start(&the_loop, relay))
		_exit(1);
	for (;;)
		step(&the_loop);
}
