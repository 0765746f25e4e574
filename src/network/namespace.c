// SPDX-License-Identifier: MIT
// Configures the box's network namespace: kernel settings, a route for refused packets, and the
// sockets of the DNS relay.
#include "network/namespace.h"

#include "network/dns.h"
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

enum { ROUTE_TABLE = 99, RULE_PRIORITY = 99, PING_TRIES = 20000, BACKLOG = 16 };

bool namespace_enter(int user_namespace, int net_namespace)
{
	return setns(user_namespace, CLONE_NEWUSER) == 0 && setns(net_namespace, CLONE_NEWNET) == 0;
}

// Writes a kernel setting. Returns false with errno.
static bool write_setting(const char *name, const char *value)
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

// Sends a netlink request and waits for its acknowledgement. Returns false with errno.
static bool send_request(int fd, struct nlmsghdr *request)
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

// Adds an unreachable route for packets with REFUSED_MARK, so that their sender gets an error at
// once. Returns false with errno.
static bool add_refused_route(int fd, unsigned char family)
{
	struct rule_request rule = {
		.header = { .nlmsg_len = sizeof(rule), .nlmsg_type = RTM_NEWRULE },
		.rule = { .family = family, .table = ROUTE_TABLE, .action = FR_ACT_TO_TBL },
		.mark_head = { .rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = FRA_FWMARK },
		.mark = REFUSED_MARK,
		.priority_head = { .rta_len = RTA_LENGTH(sizeof(uint32_t)),
				   .rta_type = FRA_PRIORITY },
		.priority = RULE_PRIORITY,
	};
	struct route_request route = {
		.header = { .nlmsg_len = sizeof(route), .nlmsg_type = RTM_NEWROUTE },
		.route = { .rtm_family = family,
			   .rtm_table = ROUTE_TABLE,
			   .rtm_protocol = RTPROT_STATIC,
			   .rtm_scope = RT_SCOPE_UNIVERSE,
			   .rtm_type = RTN_UNREACHABLE },
	};

	return send_request(fd, &route.header) && send_request(fd, &rule.header);
}

// Allows every process of the box to send pings. The kernel accepts mapped group ids only, and
// bwrap may not have written its map yet, so this is tried until it succeeds. By then bwrap has
// also set up the loopback interface, which pasta must not do at the same time. Returns false with
// errno.
static bool allow_ping(void)
{
	for (int i = 0; i < PING_TRIES; i++) {
		static const struct timespec pause = { .tv_nsec = 100000 };

		if (write_setting("/proc/sys/net/ipv4/ping_group_range", "0 0"))
			return true;
		if (errno != EINVAL)
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

const char *namespace_prepare_pasta(const struct plan *plan)
{
	// No other machine has these addresses, and duplicate address detection takes a second.
	if (plan->inet.ipv6 && (!write_setting("/proc/sys/net/ipv6/conf/all/accept_dad", "0") ||
				!write_setting("/proc/sys/net/ipv6/conf/default/accept_dad", "0") ||
				!write_setting("/proc/sys/net/ipv6/conf/default/accept_ra", "0")))
		return "configure IPv6";
	return allow_ping() ? NULL : "allow pings";
}

const char *namespace_prepare_agent(const struct plan *plan)
{
	CLEANUP_FD int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	// pasta drops segments that it cannot write to the host's socket at once, and it does not
	// support selective acknowledgements, so the sender stalls. A small send buffer limits the
	// data in flight to what fits pasta's buffers. Measured: 1000 MiB/s instead of 30. The
	// host's socket has the large buffer that a distant server needs.
	if (!write_setting("/proc/sys/net/ipv4/tcp_wmem", "4096 65536 262144"))
		return "configure TCP";
	if (fd < 0 || !add_refused_route(fd, AF_INET))
		return "add the route for refused packets";
	if (plan->inet.ipv6 && !add_refused_route(fd, AF_INET6))
		return "add the IPv6 route for refused packets";
	return NULL;
}

bool namespace_open_dns_sockets(int ret_sockets[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(DNS_PORT) };
	static const int types[] = { SOCK_DGRAM, SOCK_STREAM };
	const int on = 1;

	inet_pton(AF_INET, BOX_RESOLVER, &address.sin_addr);
	for (int i = 0; i < 2; i++) {
		int fd = socket(AF_INET, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		ret_sockets[i] = fd;
		// bwrap may not have set up the loopback interface yet.
		if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof(on)) < 0 ||
		    bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		    (types[i] == SOCK_STREAM && listen(fd, BACKLOG) < 0))
			return false;
	}
	return true;
}
