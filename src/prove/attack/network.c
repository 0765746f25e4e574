// SPDX-License-Identifier: MIT
// Attacks by IPv4 and IPv6 on services of the host and its surroundings.
#include "prove/attack/attack.h"

#include <linux/in.h>
#include <linux/in6.h>
#include <linux/poll.h>
#include <linux/time_types.h>

enum {
	CONTACTS = 24,
	PATIENCE_MS = 150,
	FAMILY4 = 2,
	FAMILY6 = 10,
	TCP = 1, // the numbers of SOCK_STREAM and SOCK_DGRAM
	UDP = 2,
	QUICK = 0x80000 | 0x800, // SOCK_CLOEXEC | SOCK_NONBLOCK
	DISCARD = 9,
};

struct place {
	bool six;
	unsigned char bytes[16];
};

// Several at once, so that the slowest decides how long it takes.
struct contact {
	long file;
	int type;
	bool connected, answered;
	long error; // 0: silent so far
};
struct contacts {
	struct contact items[CONTACTS];
	size_t count;
};

static bool parse4(const char *text, unsigned char *bytes)
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

// Eight groups, of which "::" stands for as many zeros as are missing.
static bool parse6(const char *text, unsigned char *bytes)
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

static bool parse_place(const char *text, struct place *place)
{
	place->six = text_find(text, text_length(text), ":") != NULL;
	return place->six ? parse6(text, place->bytes) : parse4(text, place->bytes);
}

static long connect_place(long file, const struct place *place, int port)
{
	struct sockaddr_in four = { .sin_family = FAMILY4 };
	struct sockaddr_in6 six = { .sin6_family = FAMILY6 };

	four.sin_port = six.sin6_port = (unsigned short)((port & 0xff) << 8 | (port >> 8 & 0xff));
	memcpy(&four.sin_addr, place->bytes, 4);
	memcpy(&six.sin6_addr, place->bytes, 16);
	return place->six ? call(__NR_connect, file, &six, sizeof(six), 0)
			  : call(__NR_connect, file, &four, sizeof(four), 0);
}

static void contact(struct contacts *contacts, const struct place *place, int type, int port)
{
	struct contact new = { .type = type };
	long result;

	if (contacts->count == CONTACTS)
		return;
	new.file = call(__NR_socket, place->six ? FAMILY6 : FAMILY4, type | QUICK, 0, 0);
	result = new.file < 0 ? new.file : connect_place(new.file, place, port);
	if (result == 0 && type == UDP)
		result = call6(__NR_sendto, new.file, (long)"x", 1, 0, 0, 0);
	else if (result == 0)
		new.connected = true;
	if (result < 0 && result != -EINPROGRESS)
		new.error = result;
	contacts->items[contacts->count++] = new;
}

static void listen_to(struct contact *item, short events)
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

// Until all of them have answered or were refused, or nobody says anything any more.
static void wait_for(struct contacts *contacts)
{
	for (int round = 0; round < CONTACTS * 2; round++) {
		struct pollfd wait[CONTACTS];
		struct __kernel_timespec patience = { .tv_nsec = PATIENCE_MS * 1000000L };
		bool waiting = false;

		for (size_t i = 0; i < contacts->count; i++) {
			struct contact *item = &contacts->items[i];
			bool done = item->error || item->answered || item->connected;

			wait[i] = (struct pollfd){ .fd = done ? -1 : (int)item->file,
						   .events = item->type == TCP ? POLLIN | POLLOUT
									       : POLLIN };
			waiting |= !done;
		}
		if (!waiting || call6(__NR_ppoll, (long)wait, (long)contacts->count,
				      (long)&patience, 0, 0, 0) <= 0)
			return;
		for (size_t i = 0; i < contacts->count; i++)
			if (wait[i].fd >= 0 && wait[i].revents)
				listen_to(&contacts->items[i], wait[i].revents);
	}
}

// Where a service of ours listens.
static enum verdict judge_services(struct contacts *contacts)
{
	struct tries tries = { 0 };

	wait_for(contacts);
	for (size_t i = 0; i < contacts->count; i++) {
		const struct contact *item = &contacts->items[i];

		if (item->answered || item->connected)
			return reached("a service of the host %s",
				       item->answered ? "answered" : "was reached");
		failed(&tries, item->error ? item->error : -ETIMEDOUT);
	}
	return blocked_by(&tries);
}

// Where nobody needs to listen: it must be refused at once.
static enum verdict judge_refusals(struct contacts *contacts)
{
	struct tries tries = { 0 };

	wait_for(contacts);
	for (size_t i = 0; i < contacts->count; i++) {
		const struct contact *item = &contacts->items[i];

		if (item->answered || item->connected)
			return leaked("number %d was reached", (int)i + 1);
		if (!item->error)
			return leaked("number %d was not refused at once", (int)i + 1);
		failed(&tries, item->error);
	}
	return blocked_by(&tries);
}

enum form { FORM_PLAIN, FORM_MAPPED, FORM_UNSPECIFIED };

static void add_service(struct contacts *contacts, const struct canary *canary, int type,
			enum form form)
{
	static const unsigned char prefixes[2][12] = { { [10] = 0xff, 0xff },
						       { 0, 0x64, 0xff, 0x9b } };
	int port = (int)text_number(canary->field[2]);
	struct place place = { 0 };
	struct place other = { 0 };

	if (!parse_place(canary->field[1], &place))
		return;
	if (form == FORM_PLAIN) {
		contact(contacts, &place, type, port);
	} else if (form == FORM_UNSPECIFIED) {
		other.six = place.six;
		contact(contacts, &other, type, port);
	} else if (!place.six) {
		for (size_t i = 0; i < 2 && (i == 0 || !probe.full); i++) {
			other.six = true;
			memcpy(other.bytes, prefixes[i], 12);
			memcpy(other.bytes + 12, place.bytes, 4);
			contact(contacts, &other, type, port);
		}
	}
}

static void add_services(struct contacts *contacts, const char *where, int type, enum form form)
{
	const char *kind = type == TCP ? "tcp" : "udp";

	for (const struct canary *service = NULL; (service = next_canary(service, kind));)
		if (!*where || text_equal(service->field[0], where))
			add_service(contacts, service, type, form);
}

static enum verdict try_services(const char *where, int type, enum form form)
{
	struct contacts contacts = { 0 };

	add_services(&contacts, where, type, form);
	return judge_services(&contacts);
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

// In full nothing is sent there: it is the user's network, and the answer is known.
static enum verdict try_refusals(const char *const *addresses, size_t count, int port)
{
	struct contacts contacts = { 0 };
	struct place place;

	if (probe.full)
		return conclude(OPEN, "the network is the host's");
	for (size_t i = 0; i < count; i++) {
		if (!parse_place(addresses[i], &place))
			continue;
		contact(&contacts, &place, TCP, port);
		contact(&contacts, &place, UDP, port);
	}
	return judge_refusals(&contacts);
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
		"10.0.0.1",   "172.16.0.1",     "192.168.0.1",      "192.168.1.1",
		"100.64.0.1", "169.254.0.1",    "100.100.100.100",  "fd00::1",
		"fec0::1",    "2002:c0a8:1::1", "64:ff9b::c0a8:101"
	};

	return try_refusals(addresses, ARRAY_SIZE(addresses), DISCARD);
}

enum verdict try_NETWORK_MULTICAST(void)
{
	static const char *const addresses[] = { "224.0.0.251", "239.255.255.250", "ff02::fb",
						 "ff05::2" };
	struct contacts contacts = { 0 };
	struct place place;

	if (probe.full)
		return conclude(OPEN, "the network is the host's");
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		if (parse_place(addresses[i], &place))
			contact(&contacts, &place, UDP, DISCARD);
	return judge_refusals(&contacts);
}

enum verdict try_NETWORK_OUTSIDE(void)
{
	static const char *const addresses[] = { "192.0.2.1", "2001:db8::1" }; // for documentation

	if (probe.inet)
		return conclude(OPEN, "the internet is meant to be there");
	return try_refusals(addresses, ARRAY_SIZE(addresses), DISCARD);
}

// Lines of /proc/net/route: interface, destination, gateway …, in hexadecimal of this machine's order.
enum verdict try_NETWORK_GATEWAY(void)
{
	static char text[8192];
	long length = read_text("/proc/net/route", text, sizeof(text));
	struct contacts contacts = { 0 };

	if (probe.full)
		return conclude(OPEN, "the network is the host's");
	for (const char *line = text; line < text + length;) {
		const char *tab = text_find(line, (size_t)(text + length - line), "\t00000000\t");
		struct place place = { 0 };

		if (!tab)
			break;
		for (int i = 0; i < 8; i++)
			place.bytes[3 - i / 2] = (unsigned char)(place.bytes[3 - i / 2] * 16 +
								 hex_digit(tab[10 + i]));
		contact(&contacts, &place, TCP, 80);
		contact(&contacts, &place, TCP, 53);
		contact(&contacts, &place, UDP, 53);
		line = tab + 10;
	}
	return contacts.count ? judge_refusals(&contacts) : held("there is none");
}
