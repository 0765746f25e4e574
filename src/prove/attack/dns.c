// SPDX-License-Identifier: MIT
// Queries that the box's resolver must not forward to the host's.
#include "freestanding/memory.h"
#include "freestanding/syscall.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"

#include <asm/errno.h>
#include <linux/in.h>
#include <linux/poll.h>
#include <linux/time_types.h>

enum {
	TIMEOUT_MS = 400,
	FAMILY4 = 2,
	DATAGRAM = 2,
	CLOSE_ON_EXEC = 0x80000,
	PORT = 53,
	HEADER_SIZE = 12,
	CODE_MASK = 15,
	// Response codes.
	NOTIMP = 4,
	REFUSED = 5,
};

struct query {
	const char *what;
	const char *bytes;
	size_t size;
};
// clang-format off
#define QUERY(what, operation, question) \
	{ (what), "pr" operation "\0\1\0\0\0\0\0\0" question, HEADER_SIZE + sizeof(question) - 1 }
// clang-format on

// Sends a query to the box's resolver. Returns the response code, or -errno.
static long ask(const struct query *query)
{
	static const unsigned char resolver[4] = { 127, 0, 0, 53 };
	struct __kernel_timespec timeout = { .tv_nsec = TIMEOUT_MS * 1000000L };
	struct sockaddr_in address = { .sin_family = FAMILY4, .sin_port = PORT << 8 };
	long file = call(__NR_socket, FAMILY4, DATAGRAM | CLOSE_ON_EXEC, 0, 0);
	struct pollfd wait = { .fd = (int)file, .events = POLLIN };
	unsigned char answer[HEADER_SIZE] = { 0 }; // the rest is not needed
	long result = file;

	memcpy(&address.sin_addr, resolver, sizeof(resolver));
	if (result >= 0)
		result = call(__NR_connect, file, &address, sizeof(address), 0);
	if (result >= 0)
		result = call6(__NR_sendto, file, (long)query->bytes, (long)query->size, 0, 0, 0);
	if (result >= 0 && call6(__NR_ppoll, (long)&wait, 1, (long)&timeout, 0, 0, 0) <= 0)
		result = -ETIMEDOUT;
	if (result >= 0)
		result = call6(__NR_recvfrom, file, (long)answer, sizeof(answer), 0, 0, 0);
	close_file(file);
	if (result >= 0)
		result = result < HEADER_SIZE ? -EBADMSG : answer[3] & CODE_MASK;
	return result;
}

enum verdict try_NETWORK_DNS(void)
{
	static const struct query queries[] = {
		QUERY("a zone transfer", "\1\0", "\7invalid\0\0\xfc\0\1"),
		QUERY("a query for all records", "\1\0", "\7invalid\0\0\xff\0\1"),
		QUERY("a query of class CH", "\1\0", "\7version\4bind\0\0\x10\0\3"),
		QUERY("an update", "\x28\0", "\7invalid\0\0\6\0\1"),
	};
	struct tries tries = { 0 };

	if (context.full)
		return conclude(VERDICT_OPEN, "the box has the host's network");
	for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
		long code = ask(&queries[i]);

		if (code == NOTIMP || code == REFUSED)
			code = -ECONNREFUSED;
		if (!failed(&tries, code))
			return leaked("%s was answered", queries[i].what);
	}
	return all_failed(&tries);
}
