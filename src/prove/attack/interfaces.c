// SPDX-License-Identifier: MIT
// Attacks on interfaces, routes and the packet filter, and by sockets that are not for the internet.
#include "prove/attack/attack.h"

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>

enum {
	FAMILY_INET = 2,
	FAMILY_INET6 = 10,
	FAMILY_NETLINK = 16,
	FAMILY_PACKET = 17,
	FAMILY_BLUETOOTH = 31,
	FAMILY_CRYPTO = 38,
	FAMILY_VSOCK = 40,
	KIND_STREAM = 1,
	KIND_DATAGRAM = 2,
	KIND_RAW = 3,
	KIND_SEQUENCE = 5,
	KIND_NONE = 15, // no socket has it: the kernel says EINVAL, before it loads anything
	CLOSE_ON_EXEC = 0x80000,
};

// struct ifreq; its header needs those of the C library.
struct request {
	char name[16];
	union {
		short flags;
		struct {
			unsigned short family;
			unsigned char bytes[14];
		} hardware;
		char room[24];
	};
};

static long make_socket(int family, int kind, int protocol)
{
	return call(__NR_socket, family, kind | CLOSE_ON_EXEC, protocol, 0);
}

// Names of the interfaces, each ended by 0; how many bytes.
static size_t list_interfaces(char *names, size_t size)
{
	static char text[8192];
	long length = read_text("/proc/net/dev", text, sizeof(text));
	size_t used = 0;
	int lines = 0;

	for (const char *s = text; s < text + length; lines++) {
		const char *end = text_find(s, (size_t)(text + length - s), "\n");

		if (!end)
			break;
		while (*s == ' ')
			s++;
		for (; lines >= 2 && *s != ':' && s < end && used + 2 < size; s++)
			names[used++] = *s;
		if (lines >= 2)
			names[used++] = 0;
		s = end + 1;
	}
	return used;
}

enum verdict try_NETWORK_INTERFACES(void)
{
	char names[1024];
	size_t length = list_interfaces(names, sizeof(names));
	int others = 0;
	const char *last = "";

	for (const char *s = names; s < names + length; s += text_length(s) + 1) {
		if (text_equal(s, "lo"))
			continue;
		last = s;
		others++;
	}
	if (others > (probe.inet ? 1 : 0))
		return reached("%s is there", last);
	return held(others ? "one, made for the box" : "loopback only");
}

// The hardware addresses that we were told, against those that the kernel tells.
enum verdict try_IDENTITY_INTERFACES(void)
{
	long file = make_socket(FAMILY_INET, KIND_DATAGRAM, 0);
	char names[1024];
	size_t length = list_interfaces(names, sizeof(names));
	char text[24];

	if (!next_canary(NULL, "mac"))
		return skipped("nothing to look for");
	for (const char *s = names; s < names + length; s += text_length(s) + 1) {
		struct request request = { 0 };
		const unsigned char *bytes = request.hardware.bytes;

		text_make(request.name, sizeof(request.name), "%s", s);
		if (call(__NR_ioctl, file, SIOCGIFHWADDR, &request, 0) < 0)
			continue;
		for (size_t i = 0; i < 6; i++) {
			text[3 * i] = "0123456789abcdef"[bytes[i] >> 4];
			text[3 * i + 1] = "0123456789abcdef"[bytes[i] & 0xf];
			text[3 * i + 2] = i < 5 ? ':' : 0;
		}
		for (const struct canary *mac = NULL; (mac = next_canary(mac, "mac"));)
			if (text_equal(mac->field[0], text))
				return reached("%s has the host's address", s);
	}
	return held("none of the host's");
}

// What the kernel answers to a message of netlink: 0, or an error.
static long ask_netlink(int protocol, void *message, unsigned int size)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[4096];
	} answer = { 0 };
	long file = make_socket(FAMILY_NETLINK, KIND_RAW, protocol);
	long got;

	if (file < 0)
		return file;
	got = call6(__NR_sendto, file, (long)message, size, 0, 0, 0);
	if (got >= 0)
		got = call6(__NR_recvfrom, file, (long)&answer, sizeof(answer),
			    0x40 /* MSG_DONTWAIT */, 0, 0);
	close_file(file);
	if (got < 0)
		return got;
	return answer.header.nlmsg_type == NLMSG_ERROR ? answer.error.error : 0;
}

// A route into a network for documentation, and its removal.
static long change_route(int type, int flags)
{
	struct {
		struct nlmsghdr header;
		struct rtmsg route;
		struct rtattr attribute;
		unsigned char destination[4];
	} message = {
		.header = { .nlmsg_len = sizeof(message),
			    .nlmsg_type = (unsigned short)type,
			    .nlmsg_flags = (unsigned short)(NLM_F_REQUEST | NLM_F_ACK | flags) },
		.route = { .rtm_family = FAMILY_INET,
			   .rtm_dst_len = 32,
			   .rtm_table = RT_TABLE_MAIN,
			   .rtm_protocol = RTPROT_BOOT,
			   .rtm_scope = RT_SCOPE_UNIVERSE,
			   .rtm_type = RTN_BLACKHOLE },
		.attribute = { .rta_len = sizeof(struct rtattr) + 4, .rta_type = RTA_DST },
		.destination = { 192, 0, 2, 77 },
	};

	return ask_netlink(NETLINK_ROUTE, &message, sizeof(message));
}

enum verdict try_NETWORK_ROUTES(void)
{
	struct tries tries = { 0 };

	if (failed(&tries, change_route(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL)))
		return blocked_by(&tries);
	change_route(RTM_DELROUTE, 0);
	return leaked("a route was added");
}

// The flags that it has already: allowed or not, nothing changes.
enum verdict try_NETWORK_LINK(void)
{
	long file = make_socket(FAMILY_INET, KIND_DATAGRAM, 0);
	struct request request = { .name = "lo" };
	struct tries tries = { 0 };

	if (failed(&tries, call(__NR_ioctl, file, SIOCGIFFLAGS, &request, 0)) ||
	    failed(&tries, call(__NR_ioctl, file, SIOCSIFFLAGS, &request, 0)))
		return blocked_by(&tries);
	return leaked("an interface can be changed");
}

enum verdict try_NETWORK_FIREWALL(void)
{
	struct {
		struct nlmsghdr header;
		struct nfgenmsg message;
	} message = {
		.header = { .nlmsg_len = sizeof(message),
			    .nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_DUMP },
	};
	struct tries tries = { 0 };

	if (failed(&tries, ask_netlink(NETLINK_NETFILTER, &message, sizeof(message))))
		return blocked_by(&tries);
	return leaked("the rules can be read");
}

static enum verdict make_any(int family, const int *kinds, size_t count, int protocol)
{
	struct tries tries = { 0 };

	for (size_t i = 0; i < count; i++)
		if (!failed(&tries, make_socket(family, kinds[i], protocol)))
			return leaked("a socket was made");
	return blocked_by(&tries);
}

enum verdict try_NETWORK_RAW(void)
{
	static const int protocols[] = { 1, 6, 17, 58, 255 };
	struct tries tries = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (!failed(&tries, make_socket(FAMILY_INET, KIND_RAW, protocols[i])) ||
		    !failed(&tries, make_socket(FAMILY_INET6, KIND_RAW, protocols[i])))
			return leaked("a raw socket for protocol %d", protocols[i]);
	return blocked_by(&tries);
}

enum verdict try_NETWORK_PACKET(void)
{
	static const int kinds[] = { KIND_RAW, KIND_DATAGRAM };

	return make_any(FAMILY_PACKET, kinds, ARRAY_SIZE(kinds), 0x0300);
}

enum verdict try_NETWORK_VSOCK(void)
{
	static const int kinds[] = { KIND_STREAM, KIND_DATAGRAM, KIND_SEQUENCE };

	return make_any(FAMILY_VSOCK, kinds, ARRAY_SIZE(kinds), 0);
}

enum verdict try_NETWORK_CRYPTO(void)
{
	static const int kinds[] = { KIND_SEQUENCE };

	return make_any(FAMILY_CRYPTO, kinds, ARRAY_SIZE(kinds), 0);
}

enum verdict try_NETWORK_BLUETOOTH(void)
{
	static const int kinds[] = { KIND_RAW, KIND_STREAM, KIND_SEQUENCE, KIND_DATAGRAM };
	enum verdict verdict = make_any(FAMILY_BLUETOOTH, kinds, 1, 1 /* HCI */);

	return verdict == LEAKED ? verdict
				 : make_any(FAMILY_BLUETOOTH, kinds + 1, ARRAY_SIZE(kinds) - 1, 0);
}

enum verdict try_NETWORK_NETLINK(void)
{
	static const int protocols[] = { NETLINK_AUDIT,         NETLINK_CONNECTOR, NETLINK_XFRM,
					 NETLINK_CRYPTO,        NETLINK_SELINUX,   NETLINK_ISCSI,
					 NETLINK_SCSITRANSPORT, NETLINK_RDMA };
	struct tries tries = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (!failed(&tries, make_socket(FAMILY_NETLINK, KIND_RAW, protocols[i])))
			return leaked("a socket for protocol %d", protocols[i]);
	return blocked_by(&tries);
}

enum verdict try_NETWORK_FAMILIES(void)
{
	enum { LAST = 45 };
	struct tries tries = { 0 };

	for (int family = 3; family <= LAST; family++) {
		long result;

		if (family == FAMILY_INET6 || family == FAMILY_NETLINK)
			continue;
		result = make_socket(family, KIND_NONE, 0);
		failed(&tries, result);
		if (result == -EINVAL)
			return leaked("family %d reaches the kernel", family);
	}
	return blocked_by(&tries);
}
