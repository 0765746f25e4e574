// SPDX-License-Identifier: MIT
// Attacks by IPv4 and IPv6 on services of the host and on its networks.
#include "freestanding/memory.h"
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <asm/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/poll.h>
#include <linux/time_types.h>

enum {
	MAX_CONNECTIONS = 32,
	TIMEOUT_MS = 400,
	FAMILY4 = 2,
	FAMILY6 = 10,
	TCP = 1, // the values of SOCK_STREAM and SOCK_DGRAM
	UDP = 2,
	SOCKET_FLAGS = 0x80000 | 0x800, // SOCK_CLOEXEC | SOCK_NONBLOCK
	DISCARD = 9,                    // a port
};

struct address {
	bool ipv6;
	unsigned char bytes[16];
};

// Connections run in parallel, so that an attack takes as long as the slowest.
struct connection {
	long file;
	int type;
	bool connected, answered;
	long error; // 0 while there is no answer
};
struct connections {
	struct connection items[MAX_CONNECTIONS];
	size_t count;
};

static bool parse_ipv4(const char *text, unsigned char *bytes)
{
	for (int i = 0; i < 4; i++) {
		if (*text < '0' || *text > '9')
			return false;
		bytes[i] = (unsigned char)text_number(text);
		while (*text >= '0' && *text <= '9')
			text++;
		if (*text != (i < 3 ? '.' : 0))
			return false;
		text++;
	}
	return true;
}

static int hex_digit(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	letter |= 0x20;
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

// Parses eight groups; "::" stands for as many zeros as are missing.
static bool parse_ipv6(const char *text, unsigned char *bytes)
{
	unsigned char tail[16] = { 0 };
	size_t head_used = 0;
	size_t tail_used = 0;
	bool gap = false;

	for (size_t i = 0; i < 16; i++)
		bytes[i] = 0;
	while (*text) {
		unsigned int group = 0;

		if (*text == ':') {
			if (text[1] == ':') {
				gap = true;
				text++;
			}
			text++;
			continue;
		}
		for (; hex_digit(*text) >= 0; text++)
			group = group << 4 | (unsigned int)hex_digit(*text);
		if ((*text && *text != ':') || head_used + tail_used >= 16)
			return false;
		(gap ? tail : bytes)[gap ? tail_used : head_used] = (unsigned char)(group >> 8);
		(gap ? tail : bytes)[(gap ? tail_used : head_used) + 1] = (unsigned char)group;
		*(gap ? &tail_used : &head_used) += 2;
	}
	memcpy(bytes + 16 - tail_used, tail, tail_used);
	return gap || head_used == 16;
}

static bool parse_address(const char *text, struct address *address)
{
	address->ipv6 = text_find(text, text_length(text), ":") != NULL;
	return address->ipv6 ? parse_ipv6(text, address->bytes) : parse_ipv4(text, address->bytes);
}

static long connect_address(long file, const struct address *address, int port)
{
	struct sockaddr_in ipv4 = { .sin_family = FAMILY4 };
	struct sockaddr_in6 ipv6 = { .sin6_family = FAMILY6 };

	ipv4.sin_port = ipv6.sin6_port = (unsigned short)((port & 0xff) << 8 | (port >> 8 & 0xff));
	memcpy(&ipv4.sin_addr, address->bytes, 4);
	memcpy(&ipv6.sin6_addr, address->bytes, 16);
	return address->ipv6 ? call(__NR_connect, file, &ipv6, sizeof(ipv6), 0)
			     : call(__NR_connect, file, &ipv4, sizeof(ipv4), 0);
}

// Starts a connection, or sends a datagram.
static void start_connection(struct connections *connections, const struct address *address,
			     int type, int port)
{
	struct connection new = { .type = type };
	long result;

	if (connections->count == MAX_CONNECTIONS)
		return;
	new.file = call(__NR_socket, address->ipv6 ? FAMILY6 : FAMILY4, type | SOCKET_FLAGS, 0, 0);
	result = new.file < 0 ? new.file : connect_address(new.file, address, port);
	if (result == 0 && type == UDP)
		result = call6(__NR_sendto, new.file, (long)"x", 1, 0, 0, 0);
	else if (result == 0)
		new.connected = true;
	if (result < 0 && result != -EINPROGRESS)
		new.error = result;
	connections->items[connections->count++] = new;
}

// Updates a connection for which poll reports events.
static void read_connection(struct connection *item, short events)
{
	char text[256];
	int error = 0;
	unsigned int size = sizeof(error);
	long got;

	call6(__NR_getsockopt, item->file, 1 /* SOL_SOCKET */, 4 /* SO_ERROR */, (long)&error,
	      (long)&size, 0);
	if (error) {
		item->error = -error;
		return;
	}
	if (item->type == TCP && events & POLLOUT)
		item->connected = true;
	got = call6(__NR_recvfrom, item->file, (long)text, sizeof(text), 0, 0, 0);
	if (got > 0)
		item->answered = true;
	else if (got < 0 && got != -EAGAIN)
		item->error = got;
}

// Waits until every connection is answered or refused, or no event comes within the timeout.
static void wait_for_connections(struct connections *connections)
{
	for (int round = 0; round < MAX_CONNECTIONS * 2; round++) {
		struct pollfd wait[MAX_CONNECTIONS];
		struct __kernel_timespec timeout = { .tv_nsec = TIMEOUT_MS * 1000000L };
		bool waiting = false;

		for (size_t i = 0; i < connections->count; i++) {
			struct connection *item = &connections->items[i];
			bool done = item->error || item->answered || item->connected;

			wait[i] = (struct pollfd){ .fd = done ? -1 : (int)item->file,
						   .events = item->type == TCP ? POLLIN | POLLOUT
									       : POLLIN };
			waiting |= !done;
		}
		if (!waiting || call6(__NR_ppoll, (long)wait, (long)connections->count,
				      (long)&timeout, 0, 0, 0) <= 0)
			return;
		for (size_t i = 0; i < connections->count; i++)
			if (wait[i].fd >= 0 && wait[i].revents)
				read_connection(&connections->items[i], wait[i].revents);
	}
}

// Returns the verdict on connections to canaries, where the server of --prove listens.
static enum verdict judge_services(struct connections *connections)
{
	struct tries tries = { 0 };

	wait_for_connections(connections);
	for (size_t i = 0; i < connections->count; i++) {
		const struct connection *item = &connections->items[i];

		if (item->answered || item->connected)
			return reached("a service of the host %s",
				       item->answered ? "answers" : "accepts connections");
		failed(&tries, item->error ? item->error : -ETIMEDOUT);
	}
	return all_failed(&tries);
}

// Returns the verdict on connections to addresses where no service needs to listen. They must be
// refused at once.
static enum verdict judge_refusals(struct connections *connections)
{
	struct tries tries = { 0 };

	wait_for_connections(connections);
	for (size_t i = 0; i < connections->count; i++) {
		const struct connection *item = &connections->items[i];

		if (item->answered || item->connected)
			return leaked("attempt %d succeeded", (int)i + 1);
		if (!item->error)
			return leaked("attempt %d was not refused at once", (int)i + 1);
		failed(&tries, item->error);
	}
	return all_failed(&tries);
}

enum form { FORM_PLAIN, FORM_MAPPED, FORM_UNSPECIFIED };

static void add_service(struct connections *connections, const struct canary *canary, int type,
			enum form form)
{
	static const unsigned char prefixes[2][12] = { { [10] = 0xff, 0xff },
						       { 0, 0x64, 0xff, 0x9b } };
	int port = (int)text_number(canary->field[2]);
	struct address address = { 0 };
	struct address other = { 0 };

	if (!parse_address(canary->field[1], &address))
		return;
	if (form == FORM_PLAIN) {
		start_connection(connections, &address, type, port);
	} else if (form == FORM_UNSPECIFIED) {
		other.ipv6 = address.ipv6;
		start_connection(connections, &other, type, port);
	} else if (!address.ipv6) {
		for (size_t i = 0; i < 2 && (i == 0 || !context.full); i++) {
			other.ipv6 = true;
			memcpy(other.bytes, prefixes[i], 12);
			memcpy(other.bytes + 12, address.bytes, 4);
			start_connection(connections, &other, type, port);
		}
	}
}

static void add_services(struct connections *connections, const char *where, int type,
			 enum form form)
{
	enum canary_kind kind = type == TCP ? CANARY_TCP : CANARY_UDP;

	for (const struct canary *service = NULL; (service = next_canary(service, kind));)
		if (!*where || text_equal(service->field[0], where))
			add_service(connections, service, type, form);
}

static enum verdict try_services(const char *where, int type, enum form form)
{
	struct connections connections = { 0 };

	add_services(&connections, where, type, form);
	return judge_services(&connections);
}

enum verdict try_NETWORK_LOOPBACK_TCP(void)
{
	return try_services("loopback", TCP, FORM_PLAIN);
}

enum verdict try_NETWORK_LOOPBACK_UDP(void)
{
	return try_services("loopback", UDP, FORM_PLAIN);
}

enum verdict try_NETWORK_HOST_TCP(void)
{
	return try_services("host", TCP, FORM_PLAIN);
}

enum verdict try_NETWORK_HOST_UDP(void)
{
	return try_services("host", UDP, FORM_PLAIN);
}

enum verdict try_NETWORK_MAPPED(void)
{
	return try_services("", TCP, FORM_MAPPED);
}

enum verdict try_NETWORK_UNSPECIFIED(void)
{
	return try_services("loopback", TCP, FORM_UNSPECIFIED);
}

// Connects to addresses that must be refused. In the tier full nothing is sent, because it is the
// user's network.
static enum verdict try_refusals(const char *const *addresses, size_t count, int port)
{
	struct connections connections = { 0 };
	struct address address;

	if (context.full)
		return conclude(VERDICT_OPEN, "the box has the host's network");
	for (size_t i = 0; i < count; i++) {
		if (!parse_address(addresses[i], &address))
			continue;
		start_connection(&connections, &address, TCP, port);
		start_connection(&connections, &address, UDP, port);
	}
	return judge_refusals(&connections);
}

enum verdict try_NETWORK_METADATA(void)
{
	static const char *const addresses[] = { "169.254.169.254", "fd00:ec2::254",
						 "100.100.100.200", "169.254.170.2",
						 "168.63.129.16" };

	return try_refusals(addresses, ARRAY_SIZE(addresses), 80);
}

enum verdict try_NETWORK_PRIVATE(void)
{
	static const char *const addresses[] = {
		"10.0.0.1",    "172.16.0.1",     "192.168.0.1",       "192.168.1.1",
		"100.64.0.1",  "169.254.0.1",    "100.100.100.100",   "fd00::1",
		"fec0::1",     "2002:c0a8:1::1", "64:ff9b::c0a8:101", "198.18.0.1",
		"192.88.99.1", "2001:1::1"
	};

	return try_refusals(addresses, ARRAY_SIZE(addresses), DISCARD);
}

enum verdict try_NETWORK_MULTICAST(void)
{
	static const char *const addresses[] = { "224.0.0.251", "239.255.255.250", "ff02::fb",
						 "ff05::2" };
	struct connections connections = { 0 };
	struct address address;

	if (context.full)
		return conclude(VERDICT_OPEN, "the box has the host's network");
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		if (parse_address(addresses[i], &address))
			start_connection(&connections, &address, UDP, DISCARD);
	return judge_refusals(&connections);
}

enum verdict try_NETWORK_OUTSIDE(void)
{
	static const char *const addresses[] = { "192.0.2.1", "2001:db8::1" }; // for documentation

	if (context.inet)
		return conclude(VERDICT_OPEN, "the tier provides the internet");
	return try_refusals(addresses, ARRAY_SIZE(addresses), DISCARD);
}

// A line of /proc/net/route is interface, destination, gateway and more, in hexadecimal and host
// byte order.
enum verdict try_NETWORK_GATEWAY(void)
{
	static char text[8192];
	long length = read_text("/proc/net/route", text, sizeof(text));
	struct connections connections = { 0 };

	if (context.full)
		return conclude(VERDICT_OPEN, "the box has the host's network");
	for (const char *line = text; line < text + length;) {
		const char *tab = text_find(line, (size_t)(text + length - line), "\t00000000\t");
		struct address address = { 0 };

		if (!tab)
			break;
		for (int i = 0; i < 8; i++)
			address.bytes[3 - i / 2] = (unsigned char)(address.bytes[3 - i / 2] * 16 +
								   hex_digit(tab[10 + i]));
		start_connection(&connections, &address, TCP, 80);
		start_connection(&connections, &address, TCP, 53);
		start_connection(&connections, &address, UDP, 53);
		line = tab + 10;
	}
	return connections.count ? judge_refusals(&connections) : blocked("no gateway");
}
