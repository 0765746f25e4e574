// SPDX-License-Identifier: MIT
// The event loop of the DNS relay.
#include "network/dns_loop.h"

#include <sys/epoll.h>

bool loop_watch(struct loop *loop, struct endpoint *endpoint, uint32_t events, enum event_kind kind,
		unsigned int index, unsigned int part)
{
	struct epoll_event event = { .events = events,
				     .data.u64 = (uint64_t)kind << 32 | index << 8 | part };
	int operation = !endpoint->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

	if (endpoint->events == events)
		return true;
	if (epoll_ctl(loop->epoll, operation, endpoint->fd, &event) < 0)
		return false;
	endpoint->events = events;
	return true;
}
