// SPDX-License-Identifier: MIT
// Reads the host's addresses and networks from the kernel (rtnetlink), and finds pasta and nft.
//
// Theory of operation: the dump contains the routes of all tables, also those of `ip rule` and of
// VRFs. Refused are the host itself (its addresses, and `local` routes, which can be whole
// prefixes), its neighbours (destinations without a router, on interfaces that have neighbours),
// and its routers.
#include "probe/network.h"

#include "base/address.h"
#include "base/arena.h"
#include "base/quote.h"
#include "plan/facts.h"
#include "probe/programs.h"
#include "sys/cleanup.h"
#include "sys/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
	RESOLV_CONF_MAX = 64 * 1024,
	TRIES_MAX = 10,
	// A shorter prefix is not a local network but a route to the internet.
	MIN_LENGTH_4 = 8,
	MIN_LENGTH_6 = 16,
};

struct dump {
	struct network_facts *network;
	struct arena *arena;
	void (*parse)(struct dump *dump, const struct nlmsghdr *message);
	bool interrupted; // the data changed during the dump
};

static void add_range(struct dump *dump, int family, const void *bytes, unsigned int length,
		      unsigned int interface)
{
	bool six = family == AF_INET6;
	struct address_range range = { .six = six, .length = length };
	char name[IF_NAMESIZE];

	memcpy(range.bytes, bytes, six ? 16 : 4);
	vec_push(dump->arena, &dump->network->ranges,
		 (struct host_range){ .range = address_network(range),
				      .interface =
					      if_indextoname(interface, name)
						      ? quote_word(dump->arena, name, IF_NAMESIZE)
						      : "gone" });
}

// Adds a local network, unless its prefix is too short to be one.
static void add_network(struct dump *dump, int family, const void *bytes, unsigned int length,
			unsigned int interface)
{
	if (length >= (unsigned int)(family == AF_INET6 ? MIN_LENGTH_6 : MIN_LENGTH_4))
		add_range(dump, family, bytes, length, interface);
}

static void parse_address(struct dump *dump, const struct nlmsghdr *message)
{
	const struct ifaddrmsg *address = NLMSG_DATA(message);
	unsigned int bits = address->ifa_family == AF_INET6 ? ADDRESS_BITS_6 : ADDRESS_BITS_4;
	int left = (int)IFA_PAYLOAD(message);

	if (message->nlmsg_type != RTM_NEWADDR ||
	    (address->ifa_family != AF_INET && address->ifa_family != AF_INET6))
		return;
	// On a point-to-point link IFA_ADDRESS is the peer, with the prefix; IFA_LOCAL is the host.
	for (const struct rtattr *part = IFA_RTA(address); RTA_OK(part, left);
	     part = RTA_NEXT(part, left)) {
		if (part->rta_type != IFA_ADDRESS && part->rta_type != IFA_LOCAL)
			continue;
		add_range(dump, address->ifa_family, RTA_DATA(part), bits, address->ifa_index);
		add_network(dump, address->ifa_family, RTA_DATA(part), address->ifa_prefixlen,
			    address->ifa_index);
	}
}

// Returns whether an interface has neighbours, or if that is not known. A tunnel has none: a route
// into it may be the route to the whole internet.
static bool has_neighbours(unsigned int interface)
{
	CLEANUP_FD int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { 0 };

	if (fd < 0 || !if_indextoname(interface, request.ifr_name) ||
	    ioctl(fd, SIOCGIFFLAGS, &request) < 0)
		return true;
	return !(request.ifr_flags & (IFF_POINTOPOINT | IFF_NOARP));
}

// Parses the attributes of a route, or of one entry of RTA_MULTIPATH, and adds the router. The
// router's address may lie outside of every local network (`onlink`). Returns whether the
// destination is a neighbour: there is no router, and the interface has neighbours.
static bool parse_next_hop(struct dump *dump, int family, const struct rtattr *part, int left,
			   unsigned int *interface)
{
	const void *router = NULL;

	for (; RTA_OK(part, left); part = RTA_NEXT(part, left)) {
		if (part->rta_type == RTA_OIF) {
			memcpy(interface, RTA_DATA(part), sizeof(*interface));
		} else if (part->rta_type == RTA_GATEWAY) {
			router = RTA_DATA(part);
		} else if (part->rta_type == RTA_VIA) { // a router of the other address family
			const struct rtvia *via = RTA_DATA(part);

			family = via->rtvia_family;
			router = via->rtvia_addr;
		}
	}
	if (router && (family == AF_INET || family == AF_INET6))
		add_range(dump, family, router,
			  family == AF_INET6 ? ADDRESS_BITS_6 : ADDRESS_BITS_4, *interface);
	return !router && *interface && has_neighbours(*interface);
}

// Parses the entries of RTA_MULTIPATH. Returns whether one of them reaches the destination without
// a router.
static bool parse_next_hops(struct dump *dump, int family, const struct rtattr *list,
			    unsigned int *interface)
{
	const struct rtnexthop *hop = RTA_DATA(list);
	int left = (int)RTA_PAYLOAD(list);
	bool neighbour = false;

	for (; left > 0 && RTNH_OK(hop, left); hop = RTNH_NEXT(hop)) {
		int size = (int)hop->rtnh_len - (int)RTNH_LENGTH(0);

		*interface = (unsigned int)hop->rtnh_ifindex;
		neighbour |= parse_next_hop(dump, family, RTNH_DATA(hop), size, interface);
		left -= (int)RTNH_ALIGN(hop->rtnh_len);
	}
	return neighbour;
}

// Adds a destination that is the host itself. A transparent proxy has a `local` route for the whole
// internet, in a table of its own: packets without its mark do not use that table.
static void add_own(struct dump *dump, const struct rtmsg *route, const void *destination,
		    unsigned int interface)
{
	static const unsigned char zeros[16];
	bool used_by_all = route->rtm_table == RT_TABLE_LOCAL ||
			   route->rtm_table == RT_TABLE_MAIN ||
			   route->rtm_table == RT_TABLE_DEFAULT;

	if (used_by_all)
		add_range(dump, route->rtm_family, destination ? destination : zeros,
			  route->rtm_dst_len, interface);
	else if (destination)
		add_network(dump, route->rtm_family, destination, route->rtm_dst_len, interface);
}

static void parse_route(struct dump *dump, const struct nlmsghdr *message)
{
	const struct rtmsg *route = NLMSG_DATA(message);
	int left = (int)RTM_PAYLOAD(message);
	int size = left;
	const void *destination = NULL;
	unsigned int interface = 0;
	bool unknown_router = false;
	bool neighbour;

	if (message->nlmsg_type != RTM_NEWROUTE ||
	    (route->rtm_family != AF_INET && route->rtm_family != AF_INET6))
		return;
	neighbour = parse_next_hop(dump, route->rtm_family, RTM_RTA(route), size, &interface);
	for (const struct rtattr *part = RTM_RTA(route); RTA_OK(part, left);
	     part = RTA_NEXT(part, left)) {
		if (part->rta_type == RTA_DST)
			destination = RTA_DATA(part);
		else if (part->rta_type == RTA_MULTIPATH)
			neighbour = parse_next_hops(dump, route->rtm_family, part, &interface);
		else if (part->rta_type == RTA_NH_ID)
			unknown_router = true;
	}
	if (route->rtm_type == RTN_LOCAL || route->rtm_type == RTN_ANYCAST ||
	    route->rtm_type == RTN_BROADCAST)
		add_own(dump, route, destination, interface);
	if (route->rtm_type != RTN_UNICAST)
		return;
	if (route->rtm_dst_len == 0 && route->rtm_table == RT_TABLE_MAIN) {
		if (route->rtm_family == AF_INET)
			dump->network->ipv4 = true;
		else
			dump->network->ipv6 = true;
	}
	// The kernel can be told not to list the next hop of a next-hop object (ip-nexthop(8)).
	if (destination && (neighbour || (unknown_router && !interface)))
		add_network(dump, route->rtm_family, destination, route->rtm_dst_len, interface);
}

// Requests a dump of addresses or routes and parses all messages. Returns false with errno.
static bool request_dump(int fd, int kind, struct dump *dump)
{
	struct {
		struct nlmsghdr header;
		struct rtgenmsg family;
	} request = { .header = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)),
				  .nlmsg_type = (unsigned short)kind,
				  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		      .family = { .rtgen_family = AF_UNSPEC } };
	static _Alignas(struct nlmsghdr) char buffer[32 * 1024];

	if (send(fd, &request, sizeof(request), 0) < 0)
		return false;
	for (;;) {
		ssize_t received = recv(fd, buffer, sizeof(buffer), 0);
		const struct nlmsghdr *message = (const struct nlmsghdr *)buffer;

		if (received < 0 && errno == EINTR)
			continue;
		if (received <= 0)
			return false;
		for (; NLMSG_OK(message, received); message = NLMSG_NEXT(message, received)) {
			if (message->nlmsg_type == NLMSG_DONE)
				return true;
			if (message->nlmsg_type == NLMSG_ERROR) {
				errno = -((const struct nlmsgerr *)NLMSG_DATA(message))->error;
				return false;
			}
			dump->interrupted |= message->nlmsg_flags & NLM_F_DUMP_INTR;
			dump->parse(dump, message);
		}
	}
}

bool probe_ranges(struct network_facts *network, struct arena *arena)
{
	CLEANUP_FD int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	for (int tries = 0; fd >= 0 && tries < TRIES_MAX; tries++) {
		struct dump addresses = { network, arena, parse_address, false };
		struct dump routes = { network, arena, parse_route, false };

		network->ranges.count = 0;
		network->ipv4 = network->ipv6 = false;
		if (!request_dump(fd, RTM_GETADDR, &addresses) ||
		    !request_dump(fd, RTM_GETROUTE, &routes))
			return false;
		if (!addresses.interrupted && !routes.interrupted)
			return true;
		errno = EAGAIN;
	}
	return false;
}

static const char *tun_problem(void)
{
	CLEANUP_FD int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	return fd < 0 ? strerror(errno) : NULL;
}

void probe_network(struct facts *facts, struct arena *arena)
{
	struct network_facts *network = &facts->network;

	if (!probe_ranges(network, arena))
		network->problem = arena_strdup(arena, strerror(errno));
	network->resolv_text = file_read(arena, "/etc/resolv.conf", RESOLV_CONF_MAX, READ_FOLLOW);
	network->pasta = probe_program(arena, facts, "pasta", &facts->untrusted_programs);
	network->nft = probe_program(arena, facts, "nft", &facts->untrusted_programs);
	network->tun_problem = tun_problem();
}
