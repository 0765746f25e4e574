// SPDX-License-Identifier: MIT
// Reads from descriptors with a timeout, and reads small files of the kernel.
#include "sys/read.h"

#include "sys/cleanup.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

bool wait_readable(int fd, int timeout_ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int64_t start = clock_monotonic_ms();
	int ready;

	do {
		ready = poll(&wait, 1, clock_left_ms(start, timeout_ms));
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

size_t read_until_end(int fd, char *buffer, size_t size, int timeout_ms, bool *ret_complete)
{
	int64_t start = clock_monotonic_ms();
	size_t length = 0;

	*ret_complete = false;
	while (length < size && wait_readable(fd, clock_left_ms(start, timeout_ms))) {
		ssize_t got = read(fd, buffer + length, size - length);

		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		*ret_complete = got == 0;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	return length;
}

ssize_t read_kernel_file(int directory, const char *name, char *text, size_t size)
{
	CLEANUP_FD int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);

	text[got < 0 ? 0 : got] = '\0';
	return got;
}
