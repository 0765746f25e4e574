// SPDX-License-Identifier: MIT
// Sends and receives messages on the control socket between the supervisor and init.
#include "box/control.h"

#include "base/arena.h"
#include "init/protocol.h"
#include "sys/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

enum { READY_TIMEOUT_MS = 20000 };

bool control_send(int control_fd, int kind, int value)
{
	struct message message = { .kind = kind, .value = value };

	return send(control_fd, &message, sizeof(message), MSG_NOSIGNAL) == sizeof(message);
}

// Returns the pid in the SCM_CREDENTIALS that the kernel added to a message; -1 without them.
static pid_t find_sender(struct msghdr *header)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
		struct ucred credentials;

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&credentials, CMSG_DATA(part), sizeof(credentials));
		return credentials.pid;
	}
	return -1;
}

enum control_result control_receive(int control_fd, struct message *ret_message, pid_t *ret_sender)
{
	char control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec data = { .iov_base = ret_message, .iov_len = sizeof(*ret_message) };
	struct msghdr header = { .msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(control_fd, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return CONTROL_NONE;
	if (got != sizeof(*ret_message))
		return CONTROL_CLOSED;
	*ret_sender = find_sender(&header);
	return CONTROL_MESSAGE;
}

enum control_result control_wait(int control_fd, int bwrap_end, struct message *ret_message,
				 pid_t *ret_sender)
{
	int64_t start = clock_monotonic_ms();
	enum control_result result = CONTROL_NONE;

	while (result == CONTROL_NONE && clock_left_ms(start, READY_TIMEOUT_MS) > 0) {
		struct pollfd wait[] = { { .fd = control_fd, .events = POLLIN },
					 { .fd = bwrap_end, .events = POLLIN } };

		poll(wait, ARRAY_SIZE(wait), clock_left_ms(start, READY_TIMEOUT_MS));
		result = control_receive(control_fd, ret_message, ret_sender);
		if (result == CONTROL_NONE && wait[1].revents)
			result = CONTROL_CLOSED;
	}
	return result;
}
