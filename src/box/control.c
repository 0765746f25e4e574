// SPDX-License-Identifier: MIT
// The socket between the supervisor and init.
#include "box/control.h"

#include "init/protocol.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

enum { READY_MS = 20000 };

bool control_say(int control, int kind, int value)
{
	struct message message = { .kind = kind, .value = value };

	return send(control, &message, sizeof(message), MSG_NOSIGNAL) == sizeof(message);
}

// The kernel says who sent a packet, in our own numbers.
static pid_t sender_of(struct msghdr *header)
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

enum heard control_hear(int control, struct message *ret_message, pid_t *ret_sender)
{
	char room[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec data = { .iov_base = ret_message, .iov_len = sizeof(*ret_message) };
	struct msghdr header = { .msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = room,
				 .msg_controllen = sizeof(room) };
	ssize_t got = recvmsg(control, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return HEARD_NOTHING;
	if (got != sizeof(*ret_message))
		return HEARD_END;
	*ret_sender = sender_of(&header);
	return HEARD_MESSAGE;
}

enum heard control_await(int control, struct message *ret_message, pid_t *ret_sender)
{
	struct pollfd wait = { .fd = control, .events = POLLIN };
	enum heard heard = HEARD_NOTHING;

	while (heard == HEARD_NOTHING && poll(&wait, 1, READY_MS) > 0)
		heard = control_hear(control, ret_message, ret_sender);
	return heard;
}
