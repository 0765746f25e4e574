// SPDX-License-Identifier: MIT
// What a short-lived child does inside the box's network namespace, with the powers of its owner.
#include "network/namespace.h"

#include "plan/network.h"
#include "plan/plan.h"
#include "sys/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { TABLE = 99, PRIORITY = 99, MAPPED_TRIES = 20000 };

bool namespace_enter(int user_namespace, int net_namespace)
{
	return setns(user_namespace, CLONE_NEWUSER) == 0 && setns(net_namespace, CLONE_NEWNET) == 0;
}

static bool set(const char *name, const char *value)
{
	CLEANUP_FD int fd = open(name, O_WRONLY | O_CLOEXEC);
	size_t length = strlen(value);

	return fd >= 0 && write(fd, value, length) == (ssize_t)length;
}

struct rule_request {
	struct nlmsghdr header;
	struct fib_rule_hdr rule;
	struct rtattr mark_head;
	uint32_t mark;
	struct rtattr priority_head;
	uint32_t priority;
};

struct route_request {
	struct nlmsghdr header;
	struct rtmsg route;
};

static bool tell(int fd, struct nlmsghdr *request)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr answer;
		char rest[256];
	} reply;

	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
	if (send(fd, request, request->nlmsg_len, 0) < 0 || recv(fd, &reply, sizeof(reply), 0) < 0)
		return false;
	errno = -reply.answer.error;
	return reply.header.nlmsg_type == NLMSG_ERROR && errno == 0;
}

// Packets with the mark of the refused find an unreachable route: their sender is told at once.
static bool route_refused(int fd, unsigned char family)
{
	struct rule_request rule = {
		.header = { .nlmsg_len = sizeof(rule), .nlmsg_type = RTM_NEWRULE },
		.rule = { .family = family, .table = TABLE, .action = FR_ACT_TO_TBL },
		.mark_head = { .rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = FRA_FWMARK },
		.mark = REFUSED_MARK,
		.priority_head = { .rta_len = RTA_LENGTH(sizeof(uint32_t)),
				   .rta_type = FRA_PRIORITY },
		.priority = PRIORITY,
	};
	struct route_request route = {
		.header = { .nlmsg_len = sizeof(route), .nlmsg_type = RTM_NEWROUTE },
		.route = { .rtm_family = family,
			   .rtm_table = TABLE,
			   .rtm_protocol = RTPROT_STATIC,
			   .rtm_scope = RT_SCOPE_UNIVERSE,
			   .rtm_type = RTN_UNREACHABLE },
	};

	return tell(fd, &route.header) && tell(fd, &rule.header);
}

// Lets everybody in the box ping. Only numbers that are mapped can be named, and bwrap maps them about now; it has
// then set up the loopback, too, which pasta must leave to it.
static bool allow_ping(void)
{
	for (int i = 0; i < MAPPED_TRIES; i++) {
		static const struct timespec pause = { .tv_nsec = 100000 };

		if (set("/proc/sys/net/ipv4/ping_group_range", "0 0"))
			return true;
		if (errno != EINVAL)
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

const char *namespace_begin(const struct plan *plan)
{
	// The addresses are nobody else's: to ask around first takes a second (duplicate address detection).
	if (plan->inet.ipv6 && (!set("/proc/sys/net/ipv6/conf/all/accept_dad", "0") ||
				!set("/proc/sys/net/ipv6/conf/default/accept_dad", "0") ||
				!set("/proc/sys/net/ipv6/conf/default/accept_ra", "0")))
		return "configure IPv6";
	return allow_ping() ? NULL : "allow pings";
}

const char *namespace_finish(const struct plan *plan)
{
	CLEANUP_FD int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	// pasta loses what it cannot pass on at once, and without selective acknowledgements the sender then stalls: no
	// more may be on the way than fits its buffers. Measured: 1000 MiB/s instead of 30. pasta is near, and keeps
	// what a long way to the server needs.
	if (!set("/proc/sys/net/ipv4/tcp_wmem", "4096 65536 262144"))
		return "configure TCP";
	if (fd < 0 || !route_refused(fd, AF_INET))
		return "make a route for what is refused";
	if (plan->inet.ipv6 && !route_refused(fd, AF_INET6))
		return "make an IPv6 route for what is refused";
	return NULL;
}

bool namespace_open_resolver(int ret_sockets[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(53) };
	static const int types[] = { SOCK_DGRAM, SOCK_STREAM };
	const int on = 1;

	inet_pton(AF_INET, BOX_RESOLVER, &address.sin_addr);
	for (int i = 0; i < 2; i++) {
		int fd = socket(AF_INET, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		ret_sockets[i] = fd;
		// bwrap may not have brought the loopback up yet: free to bind anyway.
		if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on)) < 0 ||
		    bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		    (types[i] == SOCK_STREAM && listen(fd, 16) < 0))
			return false;
	}
	return true;
}
