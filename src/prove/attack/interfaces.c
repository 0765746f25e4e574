// SPDX-License-Identifier: MIT
// Attacks on interfaces, routes and the packet filter, and through socket families other than IP.
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/format.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
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
	TYPE_STREAM = 1,
	TYPE_DATAGRAM = 2,
	TYPE_RAW = 3,
	TYPE_SEQPACKET = 5,
	TYPE_INVALID = 15, // the kernel returns EINVAL before it loads a module
	CLOSE_ON_EXEC = 0x80000,
};

// struct ifreq. Its header needs headers of the C library.
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

static long open_socket(int family, int type, int protocol)
{
	return call(__NR_socket, family, type | CLOSE_ON_EXEC, protocol, 0);
}

// Writes the names of the interfaces, each with its NUL. Returns the number of bytes.
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
	if (others > (context.inet ? 1 : 0))
		return reached("interface %s exists", last);
	return blocked(others ? "one interface of the box" : "loopback only");
}

// Compares the hardware addresses of the interfaces with those of the host.
enum verdict try_IDENTITY_INTERFACES(void)
{
	long file = open_socket(FAMILY_INET, TYPE_DATAGRAM, 0);
	char names[1024];
	size_t length = list_interfaces(names, sizeof(names));
	char text[24];

	if (!next_canary(NULL, CANARY_HARDWARE))
		return skipped("the host has none");
	for (const char *s = names; s < names + length; s += text_length(s) + 1) {
		struct request request = { 0 };
		const unsigned char *bytes = request.hardware.bytes;

		text_format(request.name, sizeof(request.name), "%s", s);
		if (call(__NR_ioctl, file, SIOCGIFHWADDR, &request, 0) < 0)
			continue;
		for (size_t i = 0; i < 6; i++) {
			text[3 * i] = "0123456789abcdef"[bytes[i] >> 4];
			text[3 * i + 1] = "0123456789abcdef"[bytes[i] & 0xf];
			text[3 * i + 2] = i < 5 ? ':' : 0;
		}
		for (const struct canary *mac = NULL; (mac = next_canary(mac, CANARY_HARDWARE));)
			if (text_equal(mac->field[0], text))
				return reached("interface %s has an address of the host", s);
	}
	return blocked("no address of the host");
}

// Sends a netlink message. Returns 0 or the -errno of the kernel's reply.
static long send_netlink(int protocol, void *message, unsigned int size)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[4096];
	} reply = { 0 };
	long file = open_socket(FAMILY_NETLINK, TYPE_RAW, protocol);
	long got;

	if (file < 0)
		return file;
	got = call6(__NR_sendto, file, (long)message, size, 0, 0, 0);
	if (got >= 0)
		got = call6(__NR_recvfrom, file, (long)&reply, sizeof(reply),
			    0x40 /* MSG_DONTWAIT */, 0, 0);
	close_file(file);
	if (got < 0)
		return got;
	return reply.header.nlmsg_type == NLMSG_ERROR ? reply.error.error : 0;
}

// Adds or removes a route to an address that is reserved for documentation.
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

	return send_netlink(NETLINK_ROUTE, &message, sizeof(message));
}

enum verdict try_NETWORK_ROUTES(void)
{
	struct tries tries = { 0 };

	if (failed(&tries, change_route(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL)))
		return all_failed(&tries);
	change_route(RTM_DELROUTE, 0);
	return leaked("a route was added");
}

// Sets the flags that the interface already has, so that nothing changes.
enum verdict try_NETWORK_LINK(void)
{
	long file = open_socket(FAMILY_INET, TYPE_DATAGRAM, 0);
	struct request request = { .name = "lo" };
	struct tries tries = { 0 };

	if (failed(&tries, call(__NR_ioctl, file, SIOCGIFFLAGS, &request, 0)) ||
	    failed(&tries, call(__NR_ioctl, file, SIOCSIFFLAGS, &request, 0)))
		return all_failed(&tries);
	return leaked("interface lo can be changed");
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

	if (failed(&tries, send_netlink(NETLINK_NETFILTER, &message, sizeof(message))))
		return all_failed(&tries);
	return leaked("the packet filter can be read");
}

static enum verdict open_any_socket(int family, const int *types, size_t count, int protocol)
{
	struct tries tries = { 0 };

	for (size_t i = 0; i < count; i++)
		if (!failed(&tries, open_socket(family, types[i], protocol)))
			return leaked("a socket was opened");
	return all_failed(&tries);
}

enum verdict try_NETWORK_RAW(void)
{
	static const int protocols[] = { 1, 6, 17, 58, 255 };
	struct tries tries = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (!failed(&tries, open_socket(FAMILY_INET, TYPE_RAW, protocols[i])) ||
		    !failed(&tries, open_socket(FAMILY_INET6, TYPE_RAW, protocols[i])))
			return leaked("a raw socket of protocol %d was opened", protocols[i]);
	return all_failed(&tries);
}

enum verdict try_NETWORK_PACKET(void)
{
	static const int types[] = { TYPE_RAW, TYPE_DATAGRAM };

	return open_any_socket(FAMILY_PACKET, types, ARRAY_SIZE(types), 0x0300);
}

enum verdict try_NETWORK_VSOCK(void)
{
	static const int types[] = { TYPE_STREAM, TYPE_DATAGRAM, TYPE_SEQPACKET };

	return open_any_socket(FAMILY_VSOCK, types, ARRAY_SIZE(types), 0);
}

enum verdict try_NETWORK_CRYPTO(void)
{
	static const int types[] = { TYPE_SEQPACKET };

	return open_any_socket(FAMILY_CRYPTO, types, ARRAY_SIZE(types), 0);
}

enum verdict try_NETWORK_BLUETOOTH(void)
{
	static const int types[] = { TYPE_RAW, TYPE_STREAM, TYPE_SEQPACKET, TYPE_DATAGRAM };
	enum verdict verdict = open_any_socket(FAMILY_BLUETOOTH, types, 1, 1 /* HCI */);

	return verdict == VERDICT_LEAKED
		       ? verdict
		       : open_any_socket(FAMILY_BLUETOOTH, types + 1, ARRAY_SIZE(types) - 1, 0);
}

enum verdict try_NETWORK_NETLINK(void)
{
	static const int protocols[] = { NETLINK_AUDIT,         NETLINK_CONNECTOR, NETLINK_XFRM,
					 NETLINK_CRYPTO,        NETLINK_SELINUX,   NETLINK_ISCSI,
					 NETLINK_SCSITRANSPORT, NETLINK_RDMA };
	struct tries tries = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++)
		if (!failed(&tries, open_socket(FAMILY_NETLINK, TYPE_RAW, protocols[i])))
			return leaked("a netlink socket of protocol %d was opened", protocols[i]);
	return all_failed(&tries);
}

enum verdict try_NETWORK_FAMILIES(void)
{
	enum { LAST_FAMILY = 45 };
	struct tries tries = { 0 };

	for (int family = 3; family <= LAST_FAMILY; family++) {
		long result;

		if (family == FAMILY_INET6 || family == FAMILY_NETLINK)
			continue;
		result = open_socket(family, TYPE_INVALID, 0);
		failed(&tries, result);
		if (result == -EINVAL)
			return leaked("family %d is not refused", family);
	}
	return all_failed(&tries);
}
