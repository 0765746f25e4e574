// SPDX-License-Identifier: MIT
// Registers descriptors of the DNS relay with epoll.
#include "network/dns_state.h"

#include <sys/epoll.h>

bool dns_relay_watch(struct dns_relay *relay, struct dns_endpoint *endpoint, uint32_t events,
		     enum dns_event kind, unsigned int index, unsigned int part)
{
	struct epoll_event event = { .events = events,
				     .data.u64 = (uint64_t)kind << 32 | index << 8 | part };
	int operation = !endpoint->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

	if (endpoint->events == events)
		return true;
	if (epoll_ctl(relay->epoll, operation, endpoint->fd, &event) < 0)
		return false;
	endpoint->events = events;
	return true;
}
