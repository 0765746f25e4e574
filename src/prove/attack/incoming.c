// SPDX-License-Identifier: MIT
// Connections from the host to a port of the box. The server of --prove on the host tries to
// connect all the time.
#include "freestanding/syscall.h"
#include "freestanding/text.h"
#include "prove/attack/attacks.h"
#include "prove/attack/context.h"
#include "prove/attack/io.h"
#include "prove/attack/outcome.h"
#include "prove/protocol.h"

#include <linux/in6.h>
#include <linux/poll.h>
#include <linux/time_types.h>

enum { TIMEOUT_MS = 200, FAMILY4 = 2, FAMILY6 = 10, STREAM = 1, CLOSE_ON_EXEC = 0x80000 };

// Listens on every address of the box. The port is at the same offset in both families. Returns the
// socket or -errno.
static long listen_at(int family, int port)
{
	struct sockaddr_in6 address = { .sin6_family = (unsigned short)family };
	long file = call(__NR_socket, family, STREAM | CLOSE_ON_EXEC, 0, 0);
	long result = file;

	address.sin6_port = (unsigned short)((port & 0xff) << 8 | (port >> 8 & 0xff));
	if (result >= 0)
		result = call(__NR_bind, file, &address, sizeof(address), 0);
	if (result >= 0)
		result = call(__NR_listen, file, 8, 0, 0);
	if (result < 0)
		close_file(file);
	return result < 0 ? result : file;
}

enum verdict try_NETWORK_INCOMING(void)
{
	// An IPv6 socket usually accepts IPv4 too; the second bind then fails.
	static const int families[] = { FAMILY6, FAMILY4 };
	const struct canary *canary = next_canary(NULL, CANARY_INCOMING);
	struct __kernel_timespec timeout = { .tv_nsec = TIMEOUT_MS * 1000000L };
	struct pollfd wait[ARRAY_SIZE(families)];
	struct tries tries = { 0 };
	size_t count = 0;

	if (context.full)
		return conclude(VERDICT_OPEN, "the box has the host's network");
	if (!canary)
		return skipped("no port was planted");
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		long file = listen_at(families[i], (int)text_number(canary->field[0]));

		if (!failed(&tries, file))
			wait[count++] = (struct pollfd){ .fd = (int)file, .events = POLLIN };
	}
	if (!count)
		return not_run("cannot listen: %s", error_name(tries.error));
	if (call6(__NR_ppoll, (long)wait, (long)count, (long)&timeout, 0, 0, 0) > 0)
		return leaked("the host connected to port %s of the box", canary->field[0]);
	return blocked("no connection within %d ms", TIMEOUT_MS);
}
