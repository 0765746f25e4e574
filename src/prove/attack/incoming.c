// SPDX-License-Identifier: MIT
// The other direction: a port of the box, and the host, which knocks there all the while.
#include "prove/attack/attack.h"

#include <linux/in6.h>
#include <linux/poll.h>
#include <linux/time_types.h>

enum { PATIENCE_MS = 200, FAMILY4 = 2, FAMILY6 = 10, STREAM = 1, CLOSE_ON_EXEC = 0x80000 };

// On every address of the box; both families have the port at the same place.
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
	// As a rule the first has both, and the second is refused.
	static const int families[] = { FAMILY6, FAMILY4 };
	const struct canary *canary = next_canary(NULL, "incoming");
	struct __kernel_timespec patience = { .tv_nsec = PATIENCE_MS * 1000000L };
	struct pollfd wait[ARRAY_SIZE(families)];
	struct tries tries = { 0 };
	size_t count = 0;

	if (probe.full)
		return conclude(OPEN, "the network is the host's");
	if (!canary)
		return skipped("nobody knocks");
	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		long file = listen_at(families[i], (int)text_number(canary->field[0]));

		if (!failed(&tries, file))
			wait[count++] = (struct pollfd){ .fd = (int)file, .events = POLLIN };
	}
	if (!count)
		return gave_up("no port to listen at: %s", error_name(tries.error));
	if (call6(__NR_ppoll, (long)wait, (long)count, (long)&patience, 0, 0, 0) > 0)
		return leaked("the host connected to port %s of the box", canary->field[0]);
	return held("nobody came within %d ms", PATIENCE_MS);
}
